import pytest

from warex.traces.redaction.gitleaks import (
    PatternSet,
    SecretRule,
    StagedPatterns,
    context_rules,
    entropy,
    shape_rules,
)


def test_every_gitleaks_rule_is_matched_in_linear_time() -> None:
    behind_names = (rule for rules in context_rules().values() for rule in rules)
    rules = {*shape_rules(anchored=True), *behind_names}

    assert len(rules) > 200
    for rule in rules:
        assert list(rule.find(b"nothing is here", b"nothing is here")) == []


@pytest.mark.parametrize("around", ["{}", '"{}"', "{},", r"\n{}\n", "%20{}&x", '\\"{}\\"', "({})"])
def test_a_token_is_found_in_files_of_code_and_in_lines_of_json_and_urls(around: str) -> None:
    token = b"dop" + b"_v1_" + b"0123456789abcdef" * 4
    rule = next(rule for rule in shape_rules(anchored=True) if rule.name == "digitalocean-pat")
    text = around.replace("{}", token.decode()).encode()

    (span,) = rule.find(text, text.lower())

    assert text[slice(*span)] == token


def test_a_match_without_its_keyword_nearby_is_ignored() -> None:
    sha = b"9fceb02d0ae598e95dc970b74767f19372d61af8"
    rule = SecretRule("any", "([0-9a-f]{40})", (b"sgp_",), 0)

    assert list(rule.find(sha, sha)) == []
    assert list(rule.find(b"sgp_ " + sha, b"sgp_ " + sha)) == [(5, 45)]


def test_entropy_is_shannons() -> None:
    assert (entropy(b""), entropy(b"aaaa"), entropy(b"abcd")) == (0, 0, 2)


def test_only_patterns_with_their_literal_match_and_in_order() -> None:
    patterns = StagedPatterns(((b"key=[0-9]", b"key"), (b"[0-9]", None), (b"key", b"(?i)KEY")))

    assert patterns.matching(b"key=1") == [0, 1, 2]
    assert patterns.matching(b"a key") == [2]
    assert patterns.matching(b"1") == [1]
    assert patterns.matching(b"") == []


def test_patterns_can_be_compiled_before_a_text_needs_them() -> None:
    patterns = StagedPatterns(((b"key=[0-9]", b"key"),))
    patterns.compile_all()

    assert patterns.matching(b"key=1") == [0]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 11])
def test_a_set_tells_which_of_its_patterns_match_however_many_it_has(count: int) -> None:
    patterns = PatternSet(tuple(b"<%d>" % number for number in range(count)))

    assert patterns.matching(b"".join(b"<%d>" % number for number in range(1, 20, 2))) == list(
        range(1, count, 2)
    )
