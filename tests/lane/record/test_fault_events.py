from dataclasses import replace

from warex.effects import Delay, Reply
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.faults.llm.llm_stale import LlmStale
from warex.faults.walls.rate_limit import RateLimit
from warex.lane.record.fault_events import missed, planned
from warex.scenarios import PlannedInjection

HIT = PlannedInjection(
    id="i2",
    exchange="x7",
    rule="shop-down",
    fault=RateLimit(),
    scope="GET https://shop.example/",
    ordinal=3,
    effects=(Delay(2.0), Reply(504, page="firefox")),
    repeat_of="i1",
)


def test_a_plan_names_the_place_and_the_powers_it_asks_for() -> None:
    event = planned(HIT, "https://shop.example/")

    assert (event.injection, event.exchange, event.rule) == ("i2", "x7", "shop-down")
    assert (event.scope, event.ordinal) == ("GET https://shop.example/", 3)
    assert event.effects == ("delay", "reply")
    assert (event.category, event.repeat_of, event.page) == ("quota", "i1", "firefox")


def test_a_plan_has_what_is_true_of_its_fault() -> None:
    of_model = planned(replace(HIT, fault=LlmStale()), "https://model.example/")
    attack = planned(
        replace(HIT, fault=DarkPattern(pattern="disguised_ad")), "https://shop.example/"
    )

    assert of_model.fault == {"kind": "llm_stale", "stage": "request", "delay": 0.0}
    assert (of_model.target, of_model.stage) == ("llm", "request")
    assert (of_model.looks_healthy, of_model.inaction_resists) == (True, False)
    assert (attack.target, attack.stage) == ("site", "response")
    assert (attack.looks_healthy, attack.inaction_resists) == (False, True)


def test_a_miss_names_its_reason_and_how_long_it_was_held() -> None:
    event = missed(HIT, "client_gone", 0.5)

    assert (event.injection, event.exchange, event.rule) == ("i2", "x7", "shop-down")
    assert (event.reason, event.waited_s, event.count) == ("client_gone", 0.5, 1)
