from pydantic import JsonValue

from tests.scenarios.builders import PAGE, ask, one
from warex.exchange import Exchange, Request
from warex.scenarios.injection.planner import Planner, collide
from warex.scenarios.injection.rule_state import RuleState

TRIGGER: JsonValue = {"random": {"times": 1, "probability": 1.0}}


def count_of(**keys: JsonValue) -> RuleState:
    return RuleState(one(None, (), **keys).rules[0], ())


def planner() -> Planner:
    return Planner(1, None, from_start=True)


def test_injections_are_numbered_through_all_rules() -> None:
    plans, count = planner(), count_of()
    ids = [plans.plan(count, ask(PAGE), "", n)[0].id for n in (1, 2)]
    assert ids == ["i1", "i2"]


def test_a_miss_returns_its_budget() -> None:
    plans, count = planner(), count_of(trigger=TRIGGER)
    injection, state = plans.plan(count, ask(PAGE), "", 1)
    assert plans.fires(count, "", 1)
    injection = plans.commit(count, injection, state)
    assert not plans.fires(count, "", 2)
    injection.settle(delivered=False)
    assert plans.fires(count, "", 2)


def test_what_is_planned_again_spends_once_with_the_first() -> None:
    plans, count = planner(), count_of(trigger=TRIGGER)
    injection, state = plans.plan(count, ask(PAGE), "", 1)
    injection = plans.commit(count, injection, state)
    again = plans.plan_repeat(injection, "a2")
    assert (again.repeat_of, again.exchange, again.ordinal) == (injection.id, "a2", 1)
    injection.settle(delivered=True)
    again.settle(delivered=False)
    assert not plans.fires(count, "", 2)


def test_a_schedule_knows_places_by_task() -> None:
    plans = Planner(1, frozenset({(1, "down", "", 2)}), from_start=True)
    count = count_of()
    assert not plans.fires(count, "", 2)
    plans.begin_task(7)
    assert [plans.fires(count, "", n) for n in (1, 2, 3)] == [False, True, False]
    assert plans.seed == 7


def test_two_failures_of_one_attempt_collide() -> None:
    plans = planner()
    attempt = Exchange("a1", Request("CONNECT", "https://shop.test:443/"))
    refused, _ = plans.plan(count_of(fault={"kind": "connection_refused"}), attempt, "", 1)
    dropped, _ = plans.plan(count_of(fault={"kind": "connection_timeout"}), attempt, "", 1)
    assert collide(refused, dropped)
