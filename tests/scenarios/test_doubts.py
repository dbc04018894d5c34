"""What the author of a scenario may not have meant."""

import pytest

from warex.scenarios.doubts import doubts
from warex.scenarios.explain import explain
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names
from warex.scenarios.scenario import Scenario

PAGES = {"resource": ["document"]}


def rule(
    name: str, trigger: object = None, fault: object = None, **more: object
) -> dict[str, object]:
    return {
        "name": name,
        "trigger": trigger or {"always": True},
        "fault": fault or {"kind": "http_error"},
        **more,
    }


def scenario(*rules: dict[str, object], **more: object) -> Scenario:
    return Scenario.model_validate({"name": "s", "rules": list(rules), **more})


@pytest.mark.parametrize("name", preset_names())
def test_no_preset_leaves_a_doubt(name: str) -> None:
    made = load_preset(name)
    assert doubts(made) == ()
    assert "Warnings" not in explain(made)


def doubt(*rules: dict[str, object]) -> str:
    (only,) = doubts(scenario(*rules))
    return only


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"always": True}, {"first": 1}),
        ({"always": True}, {"probability": 0.5}),
        ({"first": 3}, {"first": 2}),
        ({"first": 3}, {"nth": [1, 3]}),
        ({"nth": [1, 2, 4]}, {"first": 2}),
        ({"nth": [1, 2, 4]}, {"nth": 4}),
        ({"every": 2}, {"every": 4}),
        ({"every": 2}, {"nth": [2, 6]}),
    ],
)
def test_a_rule_behind_one_that_answers_all_its_exchanges_can_never_strike(
    earlier: object, later: object
) -> None:
    said = doubt(rule("a", earlier, match=PAGES), rule("b", later, match=PAGES))
    assert said.startswith("Rule 'b' can never strike: rule 'a' stands before it")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"first": 2}, {"first": 3}),
        ({"first": 2}, {"nth": [3]}),
        ({"nth": [2]}, {"first": 10**9}),
        ({"every": 4}, {"every": 2}),
        ({"probability": 0.5}, {"probability": 0.5}),
        ({"always": True, "between": [0, 5]}, {"first": 1}),
    ],
)
def test_rules_that_may_meet_are_told_which_stands(earlier: object, later: object) -> None:
    said = doubt(rule("a", earlier, match=PAGES), rule("b", later, match=PAGES))
    assert said == (
        "Rules 'a' and 'b' may meet in one exchange; then 'a' stands and 'b' is missed"
        " (superseded)."
    )


def test_a_wider_match_that_answers_always_leaves_nothing_to_a_narrower_one() -> None:
    wide = rule("a", match={"url": "https://a.example/*"})
    narrow = rule("b", match={"url_exact": "https://a.example/x", "method": "GET"})
    assert "Rule 'b' can never strike" in doubt(wide, narrow)
    assert "'b' stands and 'a' is missed" in doubt(narrow, wide)


@pytest.mark.parametrize("answer_side", [{"status": 200}, {"content_type": "text/html"}])
def test_a_rule_judged_at_the_answer_comes_after_one_judged_at_the_request(
    answer_side: dict[str, object],
) -> None:
    lost = {"kind": "http_error", "stage": "response"}
    answer = rule("answer", fault=lost, match={"method": "GET", **PAGES, **answer_side})
    for rules in ((answer, rule("request")), (rule("request"), answer)):
        assert doubt(*rules) == (
            "Rule 'answer' can never strike: rule 'request' is judged at the request and already "
            "answers every exchange it would hit (missed: superseded)."
        )
    # A window may have opened in between, and the two count by themselves.
    for trigger in ({"nth": 2}, {"always": True, "between": [0, 5]}):
        early = rule("request", trigger, match=PAGES)
        (said,) = doubts(scenario({**answer, "trigger": trigger}, early))
        assert said == (
            "Rules 'request' and 'answer' may meet in one exchange; then 'request' stands and "
            "'answer' is missed (superseded): 'request' is judged at the request, 'answer' only at "
            "the answer."
        )


def test_faults_that_do_not_end_an_exchange_both_strike() -> None:
    slow = {"kind": "javascript_failure", "mode": "delay"}
    said = doubt(rule("slow", fault=slow), rule("down", match={"resource": "script"}))
    assert said.endswith("then both strike, in this order.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"method": "GET"}, {"method": "POST"}),
        ({"resource": "document"}, {"resource": "script"}),
        ({"url": "https://a.example/*"}, {"url": "https://b.example/*"}),
        ({"url_exact": "https://a.example/"}, {"url": "https://b.example/*"}),
        ({"url_exact": "https://a.example/x"}, {"url_exact": "https://a.example/y"}),
        ({"url_exact": "https://a.example/x"}, {"url_regex": "y$"}),
    ],
)
def test_rules_that_can_never_meet_are_no_doubt(one: object, other: object) -> None:
    assert doubts(scenario(rule("a", match=one), rule("b", match=other))) == ()


def test_a_lost_answer_to_a_write_is_told_to_have_acted() -> None:
    lost = {"kind": "http_error", "stage": "response"}
    assert "the order was placed" in doubt(rule("a", fault=lost, match={"method": "POST"}))
    assert "the order was placed" in doubt(rule("a", fault=lost))
    assert doubts(scenario(rule("a", fault=lost, match={"method": "GET"}))) == ()


def test_numbering_what_arrives_in_parallel_is_told_to_be_chance() -> None:
    first = {"first": 2}
    assert "can differ from run to run" in doubt(rule("a", first, match={"resource": "image"}))
    assert "can differ from run to run" in doubt(rule("a", first))
    for steady in (
        rule("a", first, match=PAGES),
        rule("a", first, per="url"),
        rule("a", first, match={"url_exact": "https://a.example/app.js"}),
    ):
        assert doubts(scenario(steady)) == ()


def test_a_pattern_that_no_url_fits_is_told() -> None:
    said = doubt(rule("a", match={"url": "shop.example/*"}))
    assert "no URL begins like 'shop.example/*'" in said
    assert "'https://shop.example/*'" in said
    assert "in the middle of" in doubt(rule("a", match={"url": "https://{sites}/x"}))
