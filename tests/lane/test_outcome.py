"""What reaches a client is decided by what was planned and what the engine reports, alone."""

from typing import Any

import pytest

from warex.effects import Cut, Delay, Effect, OtherPage, Reply
from warex.engine.handler import ExchangeTimings, Outcome
from warex.faults.server.http_error import HttpError
from warex.lane.outcome import (
    GAVE_UP_AFTER,
    Arrival,
    Delivery,
    arrival_of,
    delivery_of,
    share_holds,
    timings_of,
)
from warex.lane.state import AppliedInjection
from warex.scenarios import PlannedInjection
from warex.traces import ChangedValue

AT = ExchangeTimings(started=10.0, ended=12.0)
HOLD, REPLY, CUT, ELSEWHERE = Delay(5), Reply(503), Cut("reset"), OtherPage(0.0)


def injected(*effects: Effect, waited_s: float = 0.0) -> AppliedInjection:
    planned = PlannedInjection("i1", "x1", "rule", HttpError(), "", 1, effects)
    answers = any(isinstance(effect, Reply) for effect in effects)
    return AppliedInjection(planned, waited_s, is_answer=answers)


def ended(end: Any, **facts: Any) -> Outcome:
    return Outcome(end=end, timings=AT, **facts)


@pytest.mark.parametrize(
    ("outcome", "missed"),
    [
        (ended("complete", arrived=True, head_sent=True), None),
        # It was read to its end by a client that then closed at once.
        (ended("client_left", arrived=True, head_sent=True), None),
        (ended("complete", head_sent=True), "client_left"),
        (ended("client_left", head_sent=True), "client_left"),
        (ended("client_left"), "client_left"),
    ],
)
def test_a_reply_is_delivered_once_it_has_arrived(outcome: Outcome, missed: str | None) -> None:
    applied = injected(REPLY)

    delivery = delivery_of(applied, arrival_of(applied, outcome, left_during_hold=False))

    assert delivery == Delivery(missed)  # type: ignore[arg-type]


@pytest.mark.parametrize(("end", "missed"), [("aborted", None), ("client_left", "client_left")])
def test_a_cut_is_delivered_to_a_client_that_was_there(end: str, missed: str | None) -> None:
    applied = injected(CUT)

    assert (
        delivery_of(applied, arrival_of(applied, ended(end), left_during_hold=False)).missed
        == missed
    )


@pytest.mark.parametrize("effects", [(HOLD,), (HOLD, REPLY), (HOLD, CUT)])
@pytest.mark.parametrize(
    ("waited_s", "delivery"),
    [
        (GAVE_UP_AFTER, Delivery(client_left=True)),
        (GAVE_UP_AFTER - 0.1, Delivery("client_gone")),
    ],
)
def test_a_hold_of_a_second_before_leaving_counts_as_a_hit(
    effects: tuple[Effect, ...], waited_s: float, delivery: Delivery
) -> None:
    applied = injected(*effects, waited_s=waited_s)
    left = ended("client_left", left_while_held=True)

    assert delivery_of(applied, arrival_of(applied, left, left_during_hold=True)) == delivery


def test_a_pause_of_a_second_before_leaving_counts_as_a_hit() -> None:
    applied = injected(REPLY, waited_s=3)
    left = ended("client_left", left_while_held=True, head_sent=True)

    assert delivery_of(applied, arrival_of(applied, left, left_during_hold=False)).client_left


def test_a_fault_that_changed_nothing_is_missed() -> None:
    applied = injected(ELSEWHERE)
    arrived = Arrival(arrived=True)
    assert delivery_of(applied, arrived).missed == "nothing_to_rewrite"

    applied.site_change = ChangedValue(where="page", before="/a", after="/b")
    assert delivery_of(applied, arrived).missed is None


@pytest.mark.parametrize(
    ("held_s", "over", "shares"),
    [
        (3.1, True, [1, 2.1]),
        (0.4, False, [0.4]),
        (1.5, False, [1, 0.5]),
        (1.0, False, [1, 0.0]),
    ],
)
def test_the_seconds_of_holds_are_shared_in_their_order(
    held_s: float, over: bool, shares: list[float]
) -> None:
    holds = [(injected(Delay(1)), 1.0), (injected(Delay(2)), 2.0)]

    inputs = [seconds for _, seconds in share_holds(holds, held_s, over=over)]

    assert inputs == pytest.approx(shares)


def test_a_phase_that_did_not_happen_takes_no_time() -> None:
    full = ExchangeTimings(
        started=1.0,
        request_complete=1.5,
        connect_started=1.6,
        connected=1.7,
        secured=1.9,
        response_started=2.5,
        ended=4.0,
    )

    timings = timings_of(full)

    assert (timings.connect, timings.tls) == pytest.approx((0.1, 0.2))
    assert (timings.wait, timings.receive, timings.total) == pytest.approx((1.0, 1.5, 3.0))
    assert timings_of(AT).connect is None
    assert timings_of(AT).total == 2
