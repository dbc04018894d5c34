"""Every mistake is a sentence: the place, the value, what is allowed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, JsonValue

from warex.errors import ScenarioError
from warex.scenarios.load import load_scenario
from warex.scenarios.mistakes import name_list, unknown_name, validate_document

type Refusal = Callable[[str], str]

RULE = "rules: [{name: down, trigger: {first: 1}, fault: {kind: http_error}}]\n"


@pytest.fixture
def refusal(tmp_path: Path) -> Refusal:
    """Return what the loader says of this scenario, without the folder's name."""

    def refused(content: str) -> str:
        path = tmp_path / "shop.yaml"
        path.write_text(content)
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        return str(caught.value).replace(f"{tmp_path}{os.sep}", "")

    return refused


def one_rule(trigger: str = "{first: 1}", fault: str = "{kind: http_error}", more: str = "") -> str:
    return f"name: s\nrules: [{{name: down, trigger: {trigger}, fault: {fault}{more}}}]\n"


def test_an_unknown_fault_is_named_with_the_near_one_or_all_there_are(refusal: Refusal) -> None:
    place = "shop.yaml: rules[0] 'down', fault: fault kind"
    assert refusal(one_rule(fault="{kind: htp_error}")) == (
        f"{place} 'htp_error' does not exist; did you mean 'http_error'?"
    )
    assert refusal(one_rule(fault="{kind: x}")).startswith(
        f"{place} 'x' does not exist; there are: bandwidth, captcha_wall,"
    )


def test_a_fault_without_a_kind_lists_the_kinds(refusal: Refusal) -> None:
    assert "rules[0] 'down', fault: 'kind' is missing; there are: " in refusal(
        one_rule(fault="{delay: 3}")
    )


def test_an_unknown_key_is_named_with_the_near_one(refusal: Refusal) -> None:
    message = refusal(one_rule(more=", tigger: 1"))
    assert message == (
        "shop.yaml: rules[0] 'down': there is no key 'tigger' here; did you mean 'trigger'?"
    )
    assert "there is no key 'zzz' here; the keys are stage, kind, status" in refusal(
        one_rule(fault="{kind: http_error, zzz: 1}")
    )


def test_a_parameter_named_like_its_fault_keeps_its_place(refusal: Refusal) -> None:
    message = refusal(one_rule(fault="{kind: http_error, http_error: 1}"))
    assert "rules[0] 'down', fault: there is no key 'http_error' here" in message


@pytest.mark.parametrize(
    ("trigger", "fault", "sentence"),
    [
        (
            "{first: 1}",
            "{kind: http_error, status: 200}",
            "fault.status: 200 is not allowed; give a whole number from 400 to 599",
        ),
        (
            "{first: 1}",
            "{kind: network_error, delay: -1}",
            "fault.delay: -1 is not allowed; give a number from 0 to 3600",
        ),
        (
            "{first: 1}",
            "{kind: rate_limit, window: -1}",
            "fault.window: -1 is not allowed; give a number above 0 to 3600",
        ),
        (
            "{first: 1}",
            "{kind: network_error, delay: .nan}",
            "fault.delay: NaN is not allowed; give a finite number",
        ),
        (
            "{first: 1}",
            "{kind: network_error, delay: .inf}",
            "fault.delay: infinity is not allowed",
        ),
        (
            "{first: 0}",
            "{kind: http_error}",
            "trigger.first: 0 is not allowed; give a whole number from 1",
        ),
        ("{first: yes}", "{kind: http_error}", "trigger.first: true is not allowed"),
        ("{nth: [2, 0]}", "{kind: http_error}", "trigger.nth[1]: 0 is not allowed"),
        (
            "{first: 1, every: 2}",
            "{kind: http_error}",
            "trigger: found first and every; give"
            " exactly one of first, nth, every, random, probability, always",
        ),
        ("{}", "{kind: http_error}", "trigger: found none; give exactly one of"),
        (
            "{always: false}",
            "{kind: http_error}",
            "trigger.always: false is not allowed; give true",
        ),
        (
            "{probability: 1.5}",
            "{kind: http_error}",
            "trigger.probability: 1.5 is not allowed; give a number from 0 to 1",
        ),
        ("{probability: true}", "{kind: http_error}", "trigger.probability: true is not allowed"),
        (
            "{first: 1, between: [5, 2]}",
            "{kind: http_error}",
            "trigger.between: [5.0, 2.0] is not a window; write two seconds, 0 <= start < end",
        ),
        (
            "{first: 1, between: 5}",
            "{kind: http_error}",
            "trigger.between: 5 is not allowed; give a list of 2 values, each a number",
        ),
        (
            "5",
            "{kind: http_error}",
            "trigger: 5 is not allowed; give a mapping with the keys first",
        ),
        ("{first: 1}", "5", "fault: 5 is not allowed; give a mapping whose 'kind' is one of"),
    ],
)
def test_a_bad_value_is_reported_with_its_place_and_what_is_allowed(
    refusal: Refusal, trigger: str, fault: str, sentence: str
) -> None:
    message = refusal(one_rule(trigger, fault))
    assert message.startswith(f"shop.yaml: rules[0] 'down', {sentence}")


@pytest.mark.parametrize(
    ("match", "sentence"),
    [
        ('{url_regex: "("}', "match.url_regex: `(` is not a regular expression: missing )"),
        ('{url_regex: "a{99999999999999}"}', "is not a regular expression: the repetition number"),
        ('{url: "http://["}', "match.url: `http://[` is not a URL: Invalid IPv6 URL"),
        ("{url: a, url_regex: b}", "match: url and url_regex exclude each other; give one"),
        (
            "{resource: docment}",
            "match.resource: \"docment\" is not allowed; did you mean 'document'?",
        ),
        ("{status: 700}", "match.status: 700 is not allowed; give a whole number from 100 to 599"),
        ("{status: [200, 700]}", "match.status[1]: 700 is not allowed"),
        ("{method: []}", "match.method: [] is not allowed; give text or a list, each text"),
        (
            "{status: 200}",
            "match.status and match.content_type are known only after the site has"
            " answered; set fault.stage to 'response'",
        ),
    ],
)
def test_a_bad_match_is_reported_with_its_place_and_what_is_allowed(
    refusal: Refusal, match: str, sentence: str
) -> None:
    message = refusal(one_rule(more=f", match: {match}"))
    assert message.startswith("shop.yaml: rules[0] 'down'")
    assert sentence in message


def test_two_rules_of_one_name_are_refused(refusal: Refusal) -> None:
    rule = "{name: down, trigger: {first: 1}, fault: {kind: http_error}}"
    message = refusal(f"name: s\nrules: [{rule}, {rule}]\n")
    assert message == "shop.yaml: two rules are called 'down'; the ledger needs one name each"


def test_what_is_missing_is_named(refusal: Refusal) -> None:
    assert refusal("rules: []\n").startswith("shop.yaml: 'name' is missing; give text")
    message = refusal("name: s\nrules: [{name: down, fault: {kind: http_error}}]\n")
    assert message.startswith("shop.yaml: rules[0] 'down': 'trigger' is missing; give a mapping")


def test_all_mistakes_are_reported_together(refusal: Refusal) -> None:
    message = refusal(one_rule("{first: 0}", "{kind: http_error, status: 200}") + "arm: never\n")
    head, *lines = message.splitlines()
    assert head == "shop.yaml has 3 mistakes:"
    assert [line.split(":")[0] for line in lines] == [
        "  arm",
        "  rules[0] 'down', trigger.first",
        "  rules[0] 'down', fault.status",
    ]


def test_thousands_of_mistakes_are_only_counted(refusal: Refusal) -> None:
    message = refusal(f"name: s\nnever: [{', '.join(['1'] * 1000)}]\n")
    assert message.startswith("shop.yaml has 1000 mistakes:")
    assert message.endswith("and 970 more")


@pytest.mark.parametrize("word", ["on", "off", "yes", "no"])
def test_a_name_that_yaml_reads_as_a_truth_value_is_explained(refusal: Refusal, word: str) -> None:
    message = refusal(f"name: {word}\n{RULE}")
    assert message.startswith("shop.yaml: name: ")
    assert "YAML reads on, off, yes and no as true and false: put it in quotes" in message


def test_a_number_as_a_name_is_asked_for_in_quotes(refusal: Refusal) -> None:
    assert "name: 12 is not allowed" in (message := refusal("name: 12\n"))
    assert "put it in quotes" in message


class Place(BaseModel, extra="forbid"):
    file: str


class Choices(BaseModel, extra="forbid"):
    """What may be given in several ways, as a benchmark's options are."""

    word: str | tuple[str, ...] = ""
    names: tuple[str, ...] | Place = ()
    success: bool | float | Place | None = None


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (
            {"word": 3},
            ["word: 3 is not allowed; give text or a list, each text (put it in quotes)"],
        ),
        ({"word": ["a", {}]}, ["word[1]: {} is not allowed; give text"]),
        ({"names": [1]}, ["names[0]: 1 is not allowed; give text (put it in quotes)"]),
        ({"names": {"file": 1}}, ["names.file: 1 is not allowed; give text (put it in quotes)"]),
        (
            {"success": {"fil": "x"}},
            [
                "success: 'file' is missing; give text",
                "success: there is no key 'fil' here; did you mean 'file'?",
            ],
        ),
    ],
)
def test_a_mistake_is_reported_for_the_intended_form(
    data: dict[str, JsonValue], lines: list[str]
) -> None:
    assert validate_document(Choices, data) == (None, lines)


def test_where_no_key_is_allowed_none_is_listed() -> None:
    class Nothing(BaseModel, extra="forbid"):
        pass

    messages = ["there is no key 'foo' here, nor others"]
    assert validate_document(Nothing, {"foo": 1}) == (None, messages)


def test_an_unknown_name_is_reported_with_the_nearest_or_all_names() -> None:
    assert unknown_name("there is no site", "shpo", ["shop", "mail"]) == (
        "there is no site 'shpo'; did you mean 'shop'?"
    )
    assert (
        unknown_name("there is no site", "x", ["shop"]) == "there is no site 'x'; there are: shop"
    )


def test_a_long_list_is_cut_short() -> None:
    names = [f"t{number}" for number in range(23)]
    assert name_list(names[:20]).endswith("t18, t19")
    assert name_list(names).endswith("t18, t19 and 3 more")
