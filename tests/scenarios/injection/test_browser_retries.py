"""The browser's silent repeats: what is one, and what becomes of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.scenarios.builders import (
    PAGE,
    SITE,
    answer,
    ask,
    hits,
    one,
    only,
    places,
    rule,
    scenario,
)
from warex.exchange import Exchange, Request
from warex.scenarios import Decision, Injector
from warex.scenarios.injection.browser_retries import REPEAT_WINDOW, ExpectedRetries

CUT: JsonValue = {"kind": "connection_cut"}
AFTER: JsonValue = {"kind": "http_error", "stage": "response"}
GET = Request("GET", PAGE)


def cut(injector: Injector, exchange: Exchange, now: float = 0.0) -> Decision:
    """Send a request whose connection dies."""
    decision = injector.request(exchange, now)
    for injection in decision.injections:
        injection.settle(delivered=True)
    injector.died(exchange.id, now)
    return decision


# ---- what is a repeat


def test_an_equal_request_soon_after_a_death_is_its_repeat_once() -> None:
    awaited: ExpectedRetries[str] = ExpectedRetries()
    awaited.died(GET, 1.0, "x1")

    assert awaited.take(GET, 0.99 + REPEAT_WINDOW) == "x1"
    assert awaited.take(GET, 1.0) is None


@pytest.mark.parametrize(
    "other",
    [
        Request("POST", PAGE),
        Request("GET", f"{PAGE}?a"),
        Request("GET", PAGE, body_digest="b"),
    ],
)
def test_another_request_is_not_a_repeat(other: Request) -> None:
    awaited: ExpectedRetries[str] = ExpectedRetries()
    awaited.died(GET, 1.0, "x1")

    assert awaited.take(other, 1.0) is None
    assert awaited.take(Request("GET", f"{PAGE}#top", {"other": "headers"}), 1.0) == "x1"


def test_a_later_request_is_not_a_repeat() -> None:
    awaited: ExpectedRetries[str] = ExpectedRetries()
    awaited.died(GET, 1.0, "x1")

    assert awaited.take(GET, 1.01 + REPEAT_WINDOW) is None


def test_each_of_several_equal_dead_requests_may_be_repeated() -> None:
    awaited: ExpectedRetries[str] = ExpectedRetries()
    awaited.died(GET, 1.0, "x1")
    awaited.died(GET, 1.0, "x2")

    assert [awaited.take(GET, 1.1) for _ in range(3)] == ["x1", "x2", None]


def test_once_cleared_nothing_is_awaited() -> None:
    awaited: ExpectedRetries[str] = ExpectedRetries()
    awaited.died(GET, 1.0, "x1")
    awaited.clear()

    assert awaited.take(GET, 1.0) is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), max_size=30))
def test_there_are_never_more_repeats_than_deaths(steps: list[tuple[bool, float]]) -> None:
    awaited: ExpectedRetries[int] = ExpectedRetries()
    now, dead, taken = 0.0, [], []
    for number, (dies, wait) in enumerate(steps):
        now += wait
        if dies:
            awaited.died(GET, now, number)
            dead.append(number)
        elif (result := awaited.take(GET, now)) is not None:
            taken.append(result)

    assert taken == sorted(set(taken))
    assert set(taken) <= set(dead)


# ---- what becomes of it


def test_a_repeat_gets_what_the_first_got_and_is_not_counted() -> None:
    rules = (rule("cut", fault=CUT, trigger={"first": 1}), rule("b", trigger={"nth": 2}))
    injector = Injector(scenario(*rules, rule("c", per="url", trigger={"nth": 2})), 1)
    first = ask(method="POST", body="order")
    hit = only(cut(injector, first).injections)
    second = ask(method="POST", body="order")

    decision = injector.request(second, 0.1)

    again = only(decision.injections)
    assert decision.repeat_of == first.id
    assert (again.exchange, again.repeat_of) == (second.id, hit.id)
    assert again.id != hit.id
    assert (again.rule, again.scope, again.ordinal) == (hit.rule, hit.scope, hit.ordinal)
    assert again.effects == hit.effects
    third = injector.request(ask(method="POST", body="order"), 2.0)
    assert places(third.injections) == [("b", "", 2)]
    assert places(third.superseded) == [("c", f"POST {PAGE}", 2)]


def test_a_repeat_may_die_and_be_repeated_in_its_turn() -> None:
    injector = Injector(one(fault=CUT, trigger={"first": 1}), 1)
    exchanges = [ask() for _ in range(4)]

    decisions = [cut(injector, exchange, 0.2 * n) for n, exchange in enumerate(exchanges)]

    root, *again = [only(decision.injections) for decision in decisions]
    assert {it.repeat_of for it in again} == {root.id}
    assert [decision.repeat_of for decision in decisions[1:]] == [it.id for it in exchanges[:-1]]
    assert injector.request(ask(), 5.0) == Decision()


def test_requests_that_died_together_are_repeated_without_a_count() -> None:
    match: JsonValue = {"url": f"{SITE}/script.js"}
    every = rule("every", trigger={"nth": 3}, fault=AFTER)
    injector = Injector(scenario(rule("cut", fault=CUT, match=match), every), 1)
    beside, applied = ask(f"{SITE}/style.css"), ask(f"{SITE}/script.js")
    injector.request(beside, 0)
    injector.request(applied, 0)
    injector.died(applied.id, 0)
    injector.died(beside.id, 0)

    repeat = injector.request(ask(f"{SITE}/style.css"), 0.1)

    assert repeat == Decision(repeat_of=beside.id)
    assert only(injector.request(ask(PAGE), 0.1).injections).ordinal == 3


def test_an_answer_that_browsers_repeat_is_repeated_like_a_cut() -> None:
    fault: JsonValue = {"kind": "http_error", "status": 408}
    injector = Injector(one(fault=fault, trigger={"first": 1}), 1)
    hit = only(cut(injector, ask()).injections)

    assert only(injector.request(ask(), 0.1).injections).repeat_of == hit.id


@pytest.mark.parametrize("now", [0.31, 3.0])
def test_a_later_request_is_a_new_occurrence(now: float) -> None:
    injector = Injector(one(fault=CUT, trigger={"first": 1}), 1)
    cut(injector, ask())

    assert injector.request(ask(), now) == Decision()


def test_after_an_llm_call_a_request_is_the_agents_own() -> None:
    for body in ("a", "b"):
        injector = Injector(one(fault=CUT, trigger={"first": 1}), 1)
        injector.llm_call("a")
        cut(injector, ask())
        injector.llm_call(body)

        assert injector.request(ask(), 0.1) == Decision()


def test_a_complete_exchange_is_not_awaited() -> None:
    injector = Injector(one(trigger={"first": 1}), 1)
    exchange = ask()
    injector.request(exchange, 0)
    injector.finish(exchange.id)
    injector.died(exchange.id, 0)

    assert injector.request(ask(), 0.1) == Decision()


def test_once_the_agent_has_ended_a_repeat_is_neither_hit_nor_counted() -> None:
    injector = Injector(one(fault=CUT), 1)
    exchange = ask()
    cut(injector, exchange)
    injector.arming.disarm()

    assert injector.request(ask(), 0.1) == Decision(repeat_of=exchange.id)
    assert injector.skipped() == ()


def test_a_new_task_awaits_no_repeat() -> None:
    injector = Injector(one(fault=CUT, trigger={"first": 1}), 1)
    cut(injector, ask())
    injector.begin_task(1)

    assert injector.request(ask(), 0.1).repeat_of is None


# ---- at the site's answer


def answered(injector: Injector, exchange: Exchange, now: float) -> Decision:
    injector.request(exchange, now)
    return injector.response(answer(exchange), now)


def test_a_repeat_gets_at_the_answer_what_the_first_got_there() -> None:
    rules = (
        rule("cut", match={"status": 200}, fault={**AFTER, "kind": "connection_cut"}),  # type: ignore[dict-item]
        rule("count", match={"status": 200}, fault=AFTER, trigger={"nth": 2}),
    )
    injector = Injector(scenario(*rules), 1)
    first = ask()
    hit = only(answered(injector, first, 0).injections)
    injector.died(first.id, 0)

    again = only(answered(injector, ask(), 0.1).injections)

    assert (again.repeat_of, again.ordinal) == (hit.id, 1)
    assert places(answered(injector, ask(), 2).superseded) == [("count", "", 2)]


def test_a_repeat_of_an_unanswered_request_is_decided_at_its_answer() -> None:
    injector = Injector(one(match={"status": 200}, fault=AFTER), 1)
    first = ask()
    injector.request(first, 0)
    injector.died(first.id, 0)

    decision = answered(injector, ask(), 0.1)

    assert places(decision.injections) == [("down", "", 1)]
    assert only(decision.injections).repeat_of is None


def test_a_repeated_answer_is_counted_once() -> None:
    injector = Injector(one(match={"status": 200}, fault=AFTER, trigger={"every": 2}), 1)
    first, second, third = ask(), ask(), ask()
    answered(injector, first, 0)
    injector.died(first.id, 0)
    injector.request(second, 0.1)
    injector.died(second.id, 0.1)

    assert answered(injector, third, 0.2) == Decision()
    assert places(answered(injector, ask(), 2).injections) == [("down", "", 2)]


def test_a_skipped_repeat_is_counted_once() -> None:
    rules = (rule("a"), rule("b", match={"status": 408}, fault=AFTER))
    injector = Injector(scenario(*rules, arm="first_llm_call"), 1)
    for now in (0.0, 0.1):
        exchange = ask()
        injector.request(exchange, now)
        injector.response(answer(exchange, 408), now)
        injector.died(exchange.id, now)

    assert {left.rule: left.count for left in injector.skipped()} == {"a": 1, "b": 1}


# ---- the budget

ONCE: JsonValue = {"random": {"times": 1, "probability": 1.0}}


def test_a_repeat_takes_nothing_from_the_budget_and_gives_nothing_back() -> None:
    for delivered in (True, False):
        injector = Injector(one(fault=CUT, trigger=ONCE), 1)
        cut(injector, ask())
        only(injector.request(ask(), 0.1).injections).settle(delivered=delivered)
        assert hits(injector, [PAGE] * 3) == []

        injector = Injector(one(fault=CUT, trigger={"random": {"times": 2, "probability": 1.0}}), 1)
        cut(injector, ask())
        only(injector.request(ask(), 0.1).injections).settle(delivered=delivered)
        assert hits(injector, [PAGE] * 3) == [1]


@pytest.mark.parametrize(("delivered", "left"), [(True, []), (False, [1])])
def test_a_missed_hit_that_is_repeated_is_one_hit_at_most(delivered: bool, left: list[int]) -> None:
    injector = Injector(one(trigger=ONCE), 1)
    exchange = ask()
    missed = only(injector.request(exchange, 0).injections)
    injector.died(exchange.id, 0)
    missed.settle(delivered=False)

    again = only(injector.request(ask(), 0.1).injections)

    assert injector.request(ask(f"{PAGE}other"), 0.1) == Decision()
    again.settle(delivered=delivered)
    assert hits(injector, [PAGE] * 3) == left


def test_the_repeat_of_a_skipped_request_is_skipped_too() -> None:
    injector = Injector(one(match={"status": 200}, fault=AFTER, arm="first_llm_call"), 1)
    first = ask()
    injector.request(first, 0)
    injector.died(first.id, 0)
    injector.arming.arm()

    assert answered(injector, ask(), 0.1) == Decision()
    assert [(left.reason, left.count) for left in injector.skipped()] == [("not_armed", 1)]
