"""Decides whether an injection has reached the client, and if not, why.

The decision depends only on the injection, which has the plan, and on the engine's report of what
happened.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from warex.engine.handler import ExchangeTimings, Outcome
from warex.lane.state import AppliedInjection
from warex.traces import MissReason, Timings

GAVE_UP_AFTER: Final = 1.0
"""Seconds of a hold after which the fault counts as delivered to a client that leaves."""
CUT: Final = "WAREX cut the connection"
"""The error of an exchange that a fault cut."""


class Arrival(Struct, frozen=True):
    """What reached the client of the exchange that an injection was applied to."""

    arrived: bool
    """Whether the client has what was planned."""
    client_left: bool = False
    """Whether the client left before anything was sent, or during a hold or pause."""
    left_during_hold: bool = False
    """Whether it left during one of those."""
    site_failed: bool = False
    """Whether the site could not be reached, or broke off before its response began."""


class Delivery(Struct, frozen=True):
    """The outcome of an injection."""

    missed: MissReason | None = None
    """None: it was delivered."""
    client_left: bool = False
    """Whether it was delivered to a client that gave up waiting."""


def delivery_of(applied: AppliedInjection, arrival: Arrival) -> Delivery:
    """Return the outcome of an injection."""
    gave_up = arrival.client_left and applied.waited_s >= GAVE_UP_AFTER
    if gave_up or (arrival.arrived and not applied.changed_nothing):
        return Delivery(client_left=gave_up)
    return Delivery(_missed(applied, arrival))


def _missed(applied: AppliedInjection, arrival: Arrival) -> MissReason:
    page = applied.page
    if arrival.client_left:
        return "client_gone" if arrival.left_during_hold else "client_left"
    if page is not None and page.is_bomb:
        return "decompression_bomb"
    if applied.not_streamed:
        return "not_streamed"
    if applied.changed_nothing or (page is not None and page.changes_nothing):
        return "nothing_to_rewrite"
    if page is not None and page.removed_by_page:
        return "removed_by_page"
    if arrival.site_failed:
        return "site_failed"
    return "not_rendered" if page is not None and page.rewriter is not None else "client_left"


def arrival_of(applied: AppliedInjection, outcome: Outcome, *, left_during_hold: bool) -> Arrival:
    """Return what reached the client.

    ``left_during_hold``: whether the client left during a hold of the injection.
    """
    left = outcome.end == "client_left"
    if applied.is_cut:
        return Arrival(outcome.end == "aborted", left or left_during_hold, left_during_hold)
    if applied.is_answer or applied.paces:
        paused = left and outcome.left_while_held and outcome.head_sent
        unsent = left and not outcome.head_sent
        broke = not applied.is_answer and outcome.end == "site_failed"
        arrived = outcome.arrived or applied.has_arrived
        return Arrival(
            arrived, left_during_hold or paused or unsent, left_during_hold or paused, broke
        )
    return Arrival(outcome.arrived, left_during_hold, left_during_hold, site_failed(outcome))


def site_failed(outcome: Outcome) -> bool:
    """Whether the site could not be reached, or broke off before its response began."""
    return outcome.end == "site_failed" and not outcome.head_sent


def share_holds(
    holds: Iterable[tuple[AppliedInjection, float]], held_s: float, *, over: bool
) -> Iterator[tuple[AppliedInjection, float]]:
    """Yield the seconds of each hold that was begun, given the seconds of all of them.

    ``over``: all have passed. The last that was begun may be unfinished.
    """
    planned = list(holds)
    for number, (applied, seconds) in enumerate(planned, 1):
        took = held_s if number == len(planned) else min(seconds, held_s)
        yield applied, took
        if took < seconds and not over:
            return
        held_s -= took


def timings_of(timings: ExchangeTimings) -> Timings:
    """Return the seconds that each phase took."""
    asked, answered = timings.request_complete, timings.response_started
    opened = timings.connect_started is not None
    return Timings(
        connect=_seconds_between(timings.connect_started, timings.connected) if opened else None,
        tls=_seconds_between(timings.connected, timings.secured) if opened else None,
        wait=_seconds_between(timings.started if asked is None else asked, answered),
        receive=_seconds_between(answered, timings.ended),
        total=round(max(0.0, timings.ended - timings.started), 6),
    )


def _seconds_between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else round(max(0.0, end - start), 6)
