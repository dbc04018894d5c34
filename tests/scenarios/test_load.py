"""Reading a scenario: what is taken, and the sentence for everything that is not."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warex.errors import ScenarioError
from warex.scenarios.load import load_preset, load_scenario
from warex.scenarios.scenario import Scenario

type Refusal = Callable[..., str]

RULE = "rules: [{name: down, trigger: {first: 1}, fault: {kind: http_error}}]\n"


@pytest.fixture
def refusal(tmp_path: Path) -> Refusal:
    """Return what the loader says of a file with this content, without the folder's name."""

    def refused(content: str | bytes, name: str = "shop.yaml") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        return str(caught.value).replace(f"{tmp_path}{os.sep}", "")

    return refused


def one_rule(trigger: str = "{first: 1}", fault: str = "{kind: http_error}", more: str = "") -> str:
    return f"name: s\nrules: [{{name: down, trigger: {trigger}, fault: {fault}{more}}}]\n"


def test_the_three_formats_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("name: s\n" + RULE)
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[rules]]\nname = "down"\ntrigger.first = 1\nfault.kind = "http_error"\n'
    )
    (tmp_path / "s.json").write_text(
        '{"name": "s", "rules": [{"name": "down", "trigger": {"first": 1},'
        ' "fault": {"kind": "http_error"}}]}'
    )
    yaml_, toml, json_ = (load_scenario(tmp_path / f"s.{end}") for end in ("yaml", "toml", "json"))
    assert yaml_ == toml == json_
    assert yaml_.rules[0].fault.stage == "request"


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "s.yml"
    path.write_bytes(b"\xef\xbb\xbfname: s\n" + RULE.encode())
    assert load_scenario(str(path)).name == "s"


def test_a_date_as_a_name_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("name: 2026-01-31\n")
    assert load_scenario(path).name == "2026-01-31"


def test_an_unknown_fault_is_named_with_the_near_one_and_all_there_are(refusal: Refusal) -> None:
    said = refusal(one_rule(fault="{kind: htp_error}"))
    assert said.startswith(
        "shop.yaml: rules[0] 'down', fault: fault kind 'htp_error' does not exist;"
        " did you mean 'http_error'? There are: connection_cut, http_error,"
    )


def test_a_fault_without_a_kind_is_told_what_there_is(refusal: Refusal) -> None:
    assert "rules[0] 'down', fault: 'kind' is missing; there are: " in refusal(
        one_rule(fault="{delay: 3}")
    )


def test_an_unknown_key_is_named_with_the_near_one(refusal: Refusal) -> None:
    said = refusal(one_rule(more=", tigger: 1"))
    assert said == (
        "shop.yaml: rules[0] 'down': there is no key 'tigger' here; did you mean 'trigger'?"
        " The keys are name, match, trigger, per, fault"
    )
    assert "there is no key 'zzz' here; the keys are stage, kind, status" in refusal(
        one_rule(fault="{kind: http_error, zzz: 1}")
    )


def test_a_parameter_named_like_its_fault_keeps_its_place(refusal: Refusal) -> None:
    said = refusal(one_rule(fault="{kind: http_error, http_error: 1}"))
    assert "rules[0] 'down', fault: there is no key 'http_error' here" in said


@pytest.mark.parametrize(
    ("trigger", "fault", "sentence"),
    [
        ("{first: 1}", "{kind: http_error, status: 200}", "fault.status: 200 is not allowed;"
         " give a whole number from 400 to 599"),
        ("{first: 1}", "{kind: network_error, delay: -1}", "fault.delay: -1 is not allowed;"
         " give a number from 0 to 3600"),
        ("{first: 1}", "{kind: network_error, delay: .nan}", "fault.delay: NaN is not allowed;"
         " give a finite number"),
        ("{first: 1}", "{kind: network_error, delay: .inf}", "fault.delay: infinity is not allowed"),
        ("{first: 0}", "{kind: http_error}", "trigger.first: 0 is not allowed;"
         " give a whole number from 1"),
        ("{first: yes}", "{kind: http_error}", "trigger.first: true is not allowed"),
        ("{nth: [2, 0]}", "{kind: http_error}", "trigger.nth[1]: 0 is not allowed"),
        ("{first: 1, every: 2}", "{kind: http_error}", "trigger: found first and every; give"
         " exactly one of first, nth, every, random, probability, always"),
        ("{}", "{kind: http_error}", "trigger: found none; give exactly one of"),
        ("{always: false}", "{kind: http_error}", "trigger.always: false is not allowed; give true"),
        ("{probability: 1.5}", "{kind: http_error}", "trigger.probability: 1.5 is not allowed;"
         " give a number from 0 to 1"),
        ("{probability: true}", "{kind: http_error}", "trigger.probability: true is not allowed"),
        ("{first: 1, between: [5, 2]}", "{kind: http_error}", "trigger.between: [5.0, 2.0] is no"
         " window; write two seconds, 0 <= start < end"),
        ("{first: 1, between: 5}", "{kind: http_error}", "trigger.between: 5 is not allowed; give"
         " a list of 2 values, each a number"),
        ("5", "{kind: http_error}", "trigger: 5 is not allowed; give a mapping with the keys first"),
        ("{first: 1}", "5", "fault: 5 is not allowed; give a mapping whose 'kind' is one of"),
    ],
)  # fmt: skip
def test_a_bad_value_is_told_with_its_place_and_what_is_allowed(
    refusal: Refusal, trigger: str, fault: str, sentence: str
) -> None:
    said = refusal(one_rule(trigger, fault))
    assert said.startswith(f"shop.yaml: rules[0] 'down', {sentence}")


@pytest.mark.parametrize(
    ("match", "sentence"),
    [
        ('{url_regex: "("}', "match.url_regex: '(' is no regular expression: missing )"),
        ('{url_regex: "a{99999999999999}"}', "is no regular expression: the repetition number"),
        ('{url: "http://["}', "match.url: 'http://[' is no URL: Invalid IPv6 URL"),
        ("{url: a, url_regex: b}", "match: url and url_regex exclude each other; give one"),
        ("{resource: docment}", "match.resource: \"docment\" is not allowed; did you mean"
         " 'document'? Give one of document, script,"),
        ("{status: 700}", "match.status: 700 is not allowed; give a whole number from 100 to 599"),
        ("{status: [200, 700]}", "match.status[1]: 700 is not allowed"),
        ("{method: []}", "match.method: [] is not allowed; give text or a list, each text"),
        ("{status: 200}", "match.status and match.content_type are known only after the site has"
         " answered; set fault.stage to 'response'"),
    ],
)  # fmt: skip
def test_a_bad_match_is_told_with_its_place_and_what_is_allowed(
    refusal: Refusal, match: str, sentence: str
) -> None:
    said = refusal(one_rule(more=f", match: {match}"))
    assert said.startswith("shop.yaml: rules[0] 'down'")
    assert sentence in said


def test_two_rules_of_one_name_are_refused(refusal: Refusal) -> None:
    rule = "{name: down, trigger: {first: 1}, fault: {kind: http_error}}"
    said = refusal(f"name: s\nrules: [{rule}, {rule}]\n")
    assert said == "shop.yaml: two rules are called 'down'; the ledger needs one name each"


def test_what_is_missing_is_named(refusal: Refusal) -> None:
    assert refusal("rules: []\n").startswith("shop.yaml: 'name' is missing; give text")
    said = refusal("name: s\nrules: [{name: down, fault: {kind: http_error}}]\n")
    assert said.startswith("shop.yaml: rules[0] 'down': 'trigger' is missing; give a mapping")


def test_all_mistakes_are_told_at_once(refusal: Refusal) -> None:
    said = refusal(one_rule("{first: 0}", "{kind: http_error, status: 200}") + "arm: never\n")
    head, *lines = said.splitlines()
    assert head == "shop.yaml has 3 mistakes:"
    assert [line.split(":")[0] for line in lines] == [
        "  arm", "  rules[0] 'down', trigger.first", "  rules[0] 'down', fault.status",
    ]  # fmt: skip


def test_thousands_of_mistakes_are_counted_rather_than_told(refusal: Refusal) -> None:
    said = refusal(f"name: s\nnever: [{', '.join(['1'] * 1000)}]\n")
    assert said.startswith("shop.yaml has 1000 mistakes:")
    assert said.endswith("and 970 more")


@pytest.mark.parametrize("word", ["on", "off", "yes", "no"])
def test_a_name_that_yaml_reads_as_a_truth_value_is_explained(refusal: Refusal, word: str) -> None:
    said = refusal(f"name: {word}\n{RULE}")
    assert said.startswith("shop.yaml: name: ")
    assert "YAML reads on, off, yes and no as true and false: put it in quotes" in said


def test_a_number_as_a_name_is_asked_for_in_quotes(refusal: Refusal) -> None:
    assert "name: 12 is not allowed" in (said := refusal("name: 12\n"))
    assert "put it in quotes" in said


def test_keys_must_be_text(refusal: Refusal) -> None:
    assert refusal("name: s\n1: x\n") == (
        "shop.yaml cannot be used: line 2: the key 1 is not text; put it in quotes"
    )
    assert "line 2: the key on is not text; YAML reads on, off" in refusal("name: s\non: x\n")
    assert "line 1: a key must be text, not a list or a mapping" in refusal("? [a]\n: b\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.yaml", "name: a\nname: b\n"),
        ("s.json", '{"name": "a", "name": "b"}'),
        ("s.toml", 'name = "a"\nname = "b"\n'),
    ],
)
def test_a_key_given_twice_is_refused(refusal: Refusal, name: str, content: str) -> None:
    said = refusal(content, name)
    assert said.startswith(name)
    assert "twice" in said or "overwrite" in said


@pytest.mark.parametrize("content", ["", "   \n\t", "# only this\n", "---\n"])
def test_an_empty_file_is_refused(refusal: Refusal, content: str) -> None:
    assert refusal(content).startswith("shop.yaml is empty")


@pytest.mark.parametrize("content", ["[1, 2]", "just text", "3"])
def test_what_is_no_mapping_is_told_what_a_scenario_is(refusal: Refusal, content: str) -> None:
    assert refusal(content) == (
        "shop.yaml is not a scenario: it must be a mapping with the keys schema_version, name,"
        " description, arm, never, rules"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.yaml", "[" * 100_000),
        ("s.yaml", "a: " + "{a: " * 100_000),
        ("s.yaml", "- " * 100_000),
        ("s.json", "[" * 100_000 + "]" * 100_000),
        ("s.json", '{"a":' * 100_000),
        ("s.toml", "a = " + "[" * 100_000),
        ("s.toml", ".".join("a" * 100_000) + " = 1"),
    ],
)
def test_a_hundred_thousand_nested_brackets_are_refused(
    refusal: Refusal, name: str, content: str
) -> None:
    assert refusal(content, name) == f"{name} is nested more than 32 levels deep"


def test_brackets_in_text_do_not_nest(tmp_path: Path) -> None:
    brackets = "[" * 100 + "." * 400
    (tmp_path / "s.json").write_text(json.dumps({"name": "s", "description": brackets}))
    (tmp_path / "s.toml").write_text(f'name = "s"\ndescription = "{brackets}"\n')
    assert load_scenario(tmp_path / "s.json") == load_scenario(tmp_path / "s.toml")


def test_a_yaml_bomb_is_refused(refusal: Refusal) -> None:
    lines = ['a0: &a0 ["x", "x", "x", "x", "x", "x", "x", "x", "x", "x"]']
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    said = refusal("\n".join(lines))
    assert "with its aliases written out it has more than 50,000 values" in said
    assert "line" in said


def test_an_alias_within_itself_is_refused(refusal: Refusal) -> None:
    assert "line 1: the alias *a stands for what it stands in" in refusal("name: &a [*a]\n")


def test_an_alias_that_stays_small_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "name: s\nrules:\n"
        "  - {name: a, trigger: &t {first: 1}, fault: &f {kind: http_error}}\n"
        "  - {name: b, trigger: *t, fault: {<<: *f, status: 503}}\n"
    )
    first, second = load_scenario(path).rules
    assert first.trigger == second.trigger


def test_yaml_tags_are_refused(refusal: Refusal) -> None:
    said = refusal('name: !!python/object/apply:os.system ["true"]\n')
    assert "line 1: the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed" in said


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [
        ("s.yaml", "name: s\nrules: [\n", "line 3, column 1"),
        ("s.yaml", "name: s\nrules: {]\n", "line 2, column 9"),
        ("s.yaml", "name: s\n\x01\n", "line 2: the control character U+0001 is not allowed"),
        ("s.json", '{"name": "s",\n}', "line 1, column 13"),
        ("s.toml", 'name = "s"\nrules = \n', "line 2, column 9"),
    ],
)
def test_a_slip_of_syntax_is_told_with_its_line(
    refusal: Refusal, name: str, content: str, where: str
) -> None:
    said = refusal(content, name)
    assert said.startswith(f"{name} is no well-formed ")
    assert where in said


@pytest.mark.parametrize("suffix", ["yaml", "json", "toml"])
def test_binary_rubbish_is_refused(refusal: Refusal, suffix: str) -> None:
    said = refusal(bytes(range(256)), f"s.{suffix}")
    assert said == f"s.{suffix} is not text in UTF-8: byte 0x80 at position 128"


def test_values_that_json_has_no_word_for_are_refused(refusal: Refusal) -> None:
    assert "NaN is not allowed; give a finite number" in refusal('{"name": NaN}', "s.json")
    assert "infinity is not allowed" in refusal('{"name": 1e999}', "s.json")
    assert "holds a date, 2026-01-01; put it in quotes" in refusal("name = 2026-01-01", "s.toml")
    assert "holds text that is not Unicode: '\\ud800'" in refusal('{"name": "\\ud800"}', "s.json")
    assert "cannot be read" in refusal("name: " + "1" * 5000)


def test_a_file_that_is_too_large_is_refused(refusal: Refusal) -> None:
    said = refusal("#" * 1_000_001)
    assert said == "shop.yaml is larger than 1,000,000 bytes, which is too large for a scenario"


def test_what_is_no_readable_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "dir.yaml").mkdir()
    (tmp_path / "s.txt").write_text("name: s\n")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, sentence in (
        ("dir.yaml", "is a directory; give the file of a scenario"),
        ("gone.yaml", "does not exist; give the file of a scenario"),
        ("s.txt", "its name must end in .yaml, .yml, .toml or .json"),
        ("loop.yaml", "cannot be read: "),
        ("pipe.yaml", "is not an ordinary file"),
    ):
        with pytest.raises(ScenarioError, match=sentence):
            load_scenario(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("name: s\n")
    path.chmod(0)
    with pytest.raises(ScenarioError, match="cannot be read: Permission denied"):
        load_scenario(path)


def test_an_unknown_preset_is_told_with_the_near_one_and_all_there_are() -> None:
    for load in (load_scenario, load_preset):
        with pytest.raises(ScenarioError) as caught:
            load("paper/server-eror")
        assert str(caught.value) == (
            "there is no scenario 'paper/server-eror'; did you mean 'paper/server-error'? Give a"
            " preset (paper/javascript, paper/network-error, paper/server-error) or a file that"
            " ends in .yaml, .yml, .toml, .json"
        )


@pytest.mark.parametrize(
    "name", ["x" * 5000, "a\0b", "", "x" * 5000 + ".yaml", "a\0b.yaml", "\ud8a0"]
)
def test_a_name_that_no_file_can_have_is_a_sentence_too(name: str) -> None:
    with pytest.raises(ScenarioError):
        load_scenario(name)


# --- laws ---------------------------------------------------------------------------------------

words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)
counts = st.integers(1, 1000)
chances = st.floats(0, 1)
triggers = st.one_of(
    st.fixed_dictionaries({"first": counts}),
    st.fixed_dictionaries({"nth": st.lists(counts, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"every": counts}, optional={"after_step": st.integers(0, 9)}),
    st.fixed_dictionaries({"random": st.fixed_dictionaries({"times": counts, "probability": chances})}),
    st.fixed_dictionaries({"probability": chances}),
    st.fixed_dictionaries({"always": st.just(True)}, optional={"between": st.just([0.5, 9.0])}),
)  # fmt: skip
matches = st.fixed_dictionaries(
    {},
    optional={
        "url": words.map(lambda word: f"https://shop.example/{word}*"),
        "method": st.lists(st.sampled_from(["GET", "POST"]), min_size=1, max_size=2),
        "resource": st.lists(st.sampled_from(["document", "script"]), min_size=1, max_size=2),
    },
)
faults = st.one_of(
    st.fixed_dictionaries({"kind": st.just("http_error"), "status": st.integers(400, 599)}),
    st.fixed_dictionaries({"kind": st.just("network_error"), "delay": st.floats(0, 3600)}),
)
rules = st.fixed_dictionaries(
    {"name": words, "trigger": triggers, "fault": faults},
    optional={"match": matches, "per": st.sampled_from(["rule", "url"])},
)
scenarios = st.fixed_dictionaries(
    {"name": words, "rules": st.lists(rules, max_size=3, unique_by=lambda rule: rule["name"])},
    optional={"arm": st.sampled_from(["start", "first_page"]), "description": words},
).map(Scenario.model_validate)


def to_toml(value: object) -> str:
    """Write plain data as a TOML value; JSON's text and numbers are TOML's."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {to_toml(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(to_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


@given(scenario=scenarios)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_scenario_written_down_reads_back_the_same(scenario: Scenario, tmp_path: Path) -> None:
    data = scenario.model_dump(mode="json", exclude_none=True)
    written = {
        "s.yaml": yaml.safe_dump(data, allow_unicode=True),
        "s.json": json.dumps(data),
        "s.toml": "\n".join(f"{key} = {to_toml(value)}" for key, value in data.items()),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text)
        assert load_scenario(tmp_path / name) == scenario


@given(content=st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode(errors="replace")),
       suffix=st.sampled_from(["yaml", "json", "toml"]))  # fmt: skip
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_file_gives_anything_but_a_scenario_or_a_sentence(
    content: bytes, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"s.{suffix}"
    path.write_bytes(content)
    try:
        load_scenario(path)
    except ScenarioError as error:
        assert str(path) in str(error)


@given(
    data=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "rules", "match", "trigger", "fault", "kind", "status",
                             "http_error", "first", "nth", "url", "frequency", "failures",
                             "failure_type", "between"]) | st.text(max_size=4),
            inner, max_size=4),
        max_leaves=25,
    ).filter(lambda data: isinstance(data, dict))
)  # fmt: skip
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_document_gives_anything_but_a_scenario_or_a_sentence(
    data: dict[str, object], tmp_path: Path
) -> None:
    rule = {"name": "r", "trigger": data, "match": data, "fault": {"kind": "http_error", **data}}
    for document in (data, {"name": "s", "rules": [rule]}, {"name": "s", "rules": [data]}):
        path = tmp_path / "s.json"
        path.write_text(json.dumps(document))
        try:
            load_scenario(path)
        except ScenarioError as error:
            assert str(path) in str(error)
