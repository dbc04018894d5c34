"""Rules that may meet are told, and which of them stands."""

import pytest

from tests.scenarios.lint.test_linter import PAGES, rule, scenario
from warex.scenarios.lint.collisions import collisions, explain_superseded, superseded
from warex.scenarios.scenario import Scenario


def in_words(made: Scenario) -> tuple[str, ...]:
    missing = superseded(made.rules)
    left = [each for each in made.rules if each.name not in missing]
    return (*explain_superseded(made.rules), *collisions(left))


def warnings_of(*rules: dict[str, object]) -> str:
    (only,) = in_words(scenario(*rules))
    return only


@pytest.mark.parametrize("later", [{"always": True}, {"first": 1}, {"probability": 0.5}])
def test_a_rule_behind_one_that_is_always_triggered_can_never_apply(later: object) -> None:
    message = warnings_of(rule("a", match=PAGES), rule("b", later, match=PAGES))
    assert message.startswith("Rule 'b' can never apply: rule 'a' comes before it")


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"first": 2}, {"first": 3}),
        ({"first": 3}, {"first": 2}),
        ({"first": 2}, {"nth": [3]}),
        ({"nth": [2]}, {"first": 10**9}),
        ({"every": 4}, {"every": 2}),
        ({"probability": 0.5}, {"probability": 0.5}),
        ({"always": True, "between": [0, 5]}, {"first": 1}),
        ({"always": True, "trials": 0.5}, {"always": True}),
        ({"first": 3, "trials": 0.5}, {"first": 1}),
    ],
)
def test_rules_that_may_meet_are_reported_with_the_winner(earlier: object, later: object) -> None:
    message = warnings_of(rule("a", earlier, match=PAGES), rule("b", later, match=PAGES))
    assert message == (
        "Rules 'a' and 'b' may meet in one exchange; then 'a' is applied and 'b' is missed"
        " (superseded)."
    )


def test_rules_whose_windows_are_apart_never_meet() -> None:
    early = rule("a", {"always": True, "between": [0, 5]}, match=PAGES)
    late = rule("b", {"always": True, "between": [6, 9]}, match=PAGES)
    at_its_edge = rule("b", {"always": True, "between": [5, 9]}, match=PAGES)

    assert in_words(scenario(early, late)) == ()
    assert "may meet" in warnings_of(early, at_its_edge)


def test_an_always_rule_without_match_hides_a_later_narrower_rule() -> None:
    wide = rule("a")
    narrow = rule("b", match={"url_exact": "https://a.example/x", "method": "GET"})
    assert "Rule 'b' can never apply" in warnings_of(wide, narrow)
    assert "'b' is applied and 'a' is missed" in warnings_of(narrow, wide)


def test_a_third_party_rule_leaves_own_scripts_to_a_later_rule() -> None:
    foreign = {"kind": "javascript_failure", "third_party": True}
    scripts = {"kind": "javascript_failure"}
    assert "'a' is applied and 'b' is missed" in warnings_of(
        rule("a", fault=foreign), rule("b", fault=scripts)
    )
    assert "Rule 'b' can never apply" in warnings_of(
        rule("a", fault=scripts), rule("b", fault=foreign)
    )
    assert "Rule 'b' can never apply" in warnings_of(
        rule("a", fault=foreign), rule("b", fault=foreign)
    )


@pytest.mark.parametrize("answer_side", [{"status": 200}, {"content_type": "text/html"}])
def test_a_rule_judged_at_the_answer_comes_after_one_judged_at_the_request(
    answer_side: dict[str, object],
) -> None:
    lost = {"kind": "http_error", "stage": "response"}
    answer = rule("answer", fault=lost, match={"method": "GET", **PAGES, **answer_side})
    for rules in ((answer, rule("request")), (rule("request"), answer)):
        assert warnings_of(*rules) == (
            "Rule 'answer' can never apply: rule 'request' is judged at the request and already "
            "answers every exchange it would hit (missed: superseded)."
        )
    # A window may have opened in between, and the two count by themselves.
    for trigger in ({"nth": 2}, {"always": True, "between": [0, 5]}):
        early = rule("request", trigger, match=PAGES)
        (message,) = in_words(scenario({**answer, "trigger": trigger}, early))
        assert message == (
            "Rules 'request' and 'answer' may meet in one exchange; then 'request' is applied and "
            "'answer' is missed (superseded): 'request' is judged at the request, 'answer' only at "
            "the answer."
        )


def test_faults_that_do_not_end_an_exchange_both_strike() -> None:
    slow = {"kind": "javascript_failure", "mode": "delay"}
    message = warnings_of(rule("slow", fault=slow), rule("down", match={"resource": "script"}))
    assert message.endswith("then both are applied, in this order.")


POPUP = {"kind": "popup"}


def test_page_faults_change_replies_in_any_order_of_rules() -> None:
    once = {"first": 1}
    assert warnings_of(rule("pop", match=PAGES, fault=POPUP), rule("err", once, match=PAGES)) == (
        "Rules 'pop' and 'err' may meet in one exchange; then both are applied, 'err' before the"
        " site is asked, 'pop' at its answer."
    )
    message = warnings_of(rule("err", once, match=PAGES), rule("pop", match=PAGES, fault=POPUP))
    assert message.endswith("then both are applied, in this order.")


@pytest.mark.parametrize("order", [("redirect", "page"), ("page", "redirect")])
def test_a_redirect_has_no_page_for_a_fault_of_pages_whichever_comes_first(
    order: tuple[str, str],
) -> None:
    rules = {
        "redirect": rule("redirect", match=PAGES, fault={"kind": "redirect_loop"}),
        "page": rule("page", match=PAGES, fault={"kind": "popup"}),
    }
    message = warnings_of(*(rules[name] for name in order))
    assert message.endswith(
        "may meet in one exchange; then the redirect of 'redirect' is sent, in which 'page' finds"
        " no page (missed: nothing_to_rewrite)."
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"kind": "connection_cut"}, POPUP),
        (POPUP, {"kind": "connection_cut"}),
        ({"kind": "slow_page"}, {"kind": "http_error"}),
        ({"kind": "http_error"}, {"kind": "slow_page"}),
        ({"kind": "wrong_page"}, {"kind": "http_error"}),
        ({"kind": "http_error"}, {"kind": "wrong_page"}),
    ],
)
def test_the_first_of_two_incompatible_rules_is_reported_as_winner(
    first: dict[str, object], second: dict[str, object]
) -> None:
    half = {"probability": 0.5}
    pair = (rule("a", half, fault=first, match=PAGES), rule("b", half, fault=second, match=PAGES))
    assert "then 'a' is applied and 'b' is missed (superseded)" in warnings_of(*pair)


def test_a_copy_of_a_write_is_not_sent_where_the_write_itself_is_not() -> None:
    post = {"method": "POST"}
    twice, lost = {"kind": "duplicate_write"}, {"kind": "lost_write"}
    assert warnings_of(
        rule("twice", match=post, fault=twice), rule("lost", match=post, fault=lost)
    ) == (
        "Rule 'lost' can never apply: rule 'twice' comes before it and already hits every exchange"
        " it would hit (missed: superseded)."
    )


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
def test_rules_that_can_never_meet_are_not_reported(one: object, other: object) -> None:
    assert in_words(scenario(rule("a", match=one), rule("b", match=other))) == ()


def together(*rules: dict[str, object]) -> tuple[str, ...]:
    return tuple(in_words for in_words in in_words(scenario(*rules)) if "may meet" in in_words)


def test_rules_that_may_all_meet_are_reported_once() -> None:
    many = [rule(name, {"probability": 0.5}, match=PAGES) for name in "abcd"]
    assert together(*many) == (
        "Rules 'a', 'b', 'c' and 'd' may meet in one exchange; then the first in this order is"
        " applied and the others are missed (superseded).",
    )
    slow = {"kind": "javascript_failure", "mode": "delay"}
    assert together(*(rule(name, fault=slow) for name in "abc")) == (
        "Rules 'a', 'b' and 'c' may meet in one exchange; then all that meet are applied, in"
        " this order.",
    )


def test_a_rule_that_may_meet_many_which_do_not_meet_is_reported_once() -> None:
    half = {"probability": 0.5}
    paths = [
        rule(name, half, match={"url": f"https://a.example/{name}/*", **PAGES}) for name in "bcd"
    ]
    wide = rule("a", half, match=PAGES)
    assert together(wide, *paths) == (
        "Rule 'a' may meet each of the rules 'b', 'c' and 'd' in one exchange; then 'a' is applied"
        " and the other is missed (superseded).",
    )
    assert together(*paths, wide) == (
        "Rule 'a' may meet each of the rules 'b', 'c' and 'd' in one exchange; then the other"
        " is applied and 'a' is missed (superseded).",
    )
    assert together(wide, *paths, rule("e", half, match=PAGES)) == (
        "Some of the rules 'a', 'b', 'c', 'd' and 'e' may meet in one exchange; then the first in"
        " this order is applied and the others are missed (superseded).",
    )


def test_groups_that_do_not_meet_are_distinguished() -> None:
    half = {"probability": 0.5}
    of = {"a": "document", "b": "document", "c": "script", "d": "script"}
    made = [rule(name, half, match={"resource": kind}) for name, kind in of.items()]
    assert [message.partition(" may meet")[0] for message in together(*made)] == [
        "Rules 'a' and 'b'",
        "Rules 'c' and 'd'",
    ]


def test_hidden_rules_are_reported_once_and_not_compared_further() -> None:
    made = [rule(name, match=PAGES) for name in "abcd"]
    assert in_words(scenario(*made)) == (
        "Rules 'b', 'c' and 'd' can never apply: rule 'a' comes before them and already answers"
        " every exchange they would hit (missed: superseded).",
    )


def test_a_fault_of_writes_leaves_pages_to_a_later_rule() -> None:
    conflict = {"kind": "write_conflict"}
    message = warnings_of(
        rule("a", fault=conflict), rule("b", match=PAGES, fault={"kind": "http_error"})
    )

    assert "Rules 'a' and 'b' may meet" in message
