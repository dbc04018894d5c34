"""What a scenario will do, in words."""

import pytest

from warex.scenarios.doubts import doubts
from warex.scenarios.explain import explain
from warex.scenarios.load import load_preset
from warex.scenarios.presets import preset_names
from warex.scenarios.scenario import Scenario


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


def flat(made: Scenario) -> str:
    """Return the explanation without its line breaks."""
    return " ".join(explain(made).split())


PAGES = {"resource": ["document"]}


def test_every_part_of_a_rule_is_told() -> None:
    said = flat(
        scenario(
            rule(
                "down",
                {"random": {"times": 3}, "between": [3, 10], "after_step": 2},
                {"kind": "http_error", "status": 503, "stage": "response"},
                match={
                    "url": "https://shop.example/*",
                    "method": ["GET", "POST"],
                    "resource": "document",
                    "status": [200, 302],
                    "content_type": "text/html",
                },
                per="url",
            ),
            arm="first_page",
            never=["https://shop.example/health*"],
            description="The shop is down.",
        )
    )
    for part in (
        "Scenario 's' The shop is down.",
        "From when on: the first top-level page of a task site, that page included.",
        "rule spells out the host; and https://shop.example/health*.",
        "1. down Which exchanges: GET or POST requests whose resource is document, whose URL fits"
        " https://shop.example/*, where the site answers 200 or 302, where the answer's media type"
        " is text/html",
        "Which are hit: each with probability 0.5, until 3 were hit; only between second 3 and"
        " second 10 of the trial; only after step 2 of the agent; what comes outside is not counted",
        "Counting: each method and URL is numbered by itself",
        "The browser meets: http_error: is handled by the site and then answered 503",
        "When: after the site has acted, so only its answer is lost: an order sent is an order placed",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        ({"first": 1}, "the first one; after that the site is healthy again"),
        ({"first": 5}, "the first 5; after that"),
        ({"nth": [2, 5]}, "number 2 and 5, and no other"),
        ({"every": 1}, "Which are hit: all Counting"),
        ({"every": 3}, "every 3rd"),
        ({"every": 11}, "every 11th"),
        ({"probability": 0.25}, "each with probability 0.25, without limit"),
        ({"always": True}, "Which are hit: all Counting"),
    ],
)
def test_every_trigger_has_its_words(trigger: object, words: str) -> None:
    assert words in flat(scenario(rule("down", trigger)))


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ({}, "requests, at any URL"),
        ({"url": "{sites}"}, "on the benchmark's task sites"),
        ({"url": "https://a.example/x"}, "at exactly https://a.example/x (a pattern without *"),
        ({"url_exact": "https://a.example/*"}, "at exactly https://a.example/*"),
        ({"url_regex": "cart"}, "whose URL contains a match of 'cart'"),
    ],
)
def test_every_pattern_has_its_words(match: object, words: str) -> None:
    assert words in flat(scenario(rule("down", match=match)))


def test_a_scenario_without_rules_says_that_nothing_is_hit() -> None:
    assert "There are no rules: nothing is hit." in explain(scenario())


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
        "Rules 'a' and 'b' may meet in one exchange; then 'a' stands and 'b' is missed (superseded)."
    )


def test_a_wider_match_that_answers_always_leaves_nothing_to_a_narrower_one() -> None:
    wide = rule("a", match={"url": "https://a.example/*"})
    narrow = rule("b", match={"url_exact": "https://a.example/x", "method": "GET"})
    assert "Rule 'b' can never strike" in doubt(wide, narrow)
    assert "'b' stands and 'a' is missed" in doubt(narrow, wide)


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
