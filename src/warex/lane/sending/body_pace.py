"""How the injections of an exchange have a body sent, and which of them it was too short for."""

from typing import assert_never

from warex.effects import Delay, Effect, Stall, Throttle, Trickle, Truncate
from warex.engine.handler import Outcome, Pace, Stop
from warex.engine.http.heads import ResponseHead
from warex.engine.http.http1.response_head import (
    CHUNKED,
    UNTIL_EOF,
    InvalidResponse,
    response_body_size,
)
from warex.lane.state import Draft, ExchangeState, PlannedStop
from warex.scenarios import PlannedInjection


def can_relay(injection: PlannedInjection, length: int | None) -> bool:
    """Whether a pace can be applied to an answer that is relayed as it arrives.

    ``length``: of the answer's body; None if it is not known yet.
    """
    return all(_can_relay(effect, length) for effect in injection.effects)


def _can_relay(effect: Effect, length: int | None) -> bool:
    match effect:
        case Delay() | Throttle():
            return True
        case Trickle():
            return effect.piece_bytes > 0 or (effect.pieces > 0 and length is not None)
        case Stall() | Truncate(how="close" | "reset"):
            return effect.unit == "bytes" or (effect.unit == "share" and length is not None)
        case _:
            return False


def length_of(method: str, head: ResponseHead) -> int | None:
    """Return the length of a response's body by its head; None if that does not say it."""
    try:
        size = response_body_size(method, head)
    except InvalidResponse:
        return None
    return None if size in (CHUNKED, UNTIL_EOF) else size


def pace_of(draft: Draft, length: int | None) -> Pace | None:
    """Return how a body is sent; keep the stops that it may reach, in their order."""
    places: list[tuple[int, PlannedStop]] = []
    for stop in draft.stops:
        at = _place(stop.effect, length)
        if at is None:
            stop.applied.is_unmet = True
        else:
            places.append((at, stop))
    places.sort(key=lambda place: place[0])
    ends = next((number for number, (_, stop) in enumerate(places, 1) if stop.ends), len(places))
    for _, stop in places[ends:]:
        stop.applied.is_unmet = True
    draft.stops = [stop for _, stop in places[:ends]]
    piece, pause = _pauses(draft, length)
    if not (draft.stops or draft.limits or pause):
        return None
    stops = tuple(_stop(at, stop.effect) for at, stop in places[:ends])
    return Pace(tuple(draft.limits), piece, pause, stops)


def _place(effect: Stall | Truncate, length: int | None) -> int | None:
    """Return the bytes of the body before a place; None if the body has no such place."""
    match effect.unit:
        case "bytes":
            at = int(effect.at)
            return at if length is None or at < length else None
        case "share":
            return None if length is None else first_part(effect.at, length)
        case "piece_share":
            return length  # What comes after it has been taken away.
        case _:
            assert_never(effect.unit)


def first_part(share: float, length: int) -> int | None:
    """Return the bytes of a share: the first one at least, and not the last one."""
    return max(1, min(int(share * length), length - 1)) if length > 1 else None


def _pauses(draft: Draft, length: int | None) -> tuple[int, float]:
    """Return the bytes between two pauses, and the seconds of each."""
    trickle = draft.trickle
    if trickle is None:
        return 0, 0.0
    piece = trickle.piece_bytes
    if trickle.pieces and length is not None:
        piece = max(1, -(-length // trickle.pieces))
    return piece, trickle.pause


def _stop(at: int, effect: Stall | Truncate) -> Stop:
    match effect:
        case Stall(seconds):
            return Stop(at, seconds)
        case Truncate(how=how, silence=silence):
            assert how != "clean"
            return Stop(at, silence, how)
        case _:
            assert_never(effect)


def note_unmet(state: ExchangeState, outcome: Outcome) -> None:
    """Note which injections have been felt whatever came then, and which found no place."""
    draft = state.draft
    for stop in draft.stops[: outcome.stops]:
        is_over = isinstance(stop.effect, Stall) and outcome.held_s >= stop.effect.seconds
        stop.applied.has_arrived = is_over and not outcome.left_while_held
    if outcome.end == "complete":
        for stop in draft.stops[outcome.stops :]:
            stop.applied.is_unmet = True
    has_body = outcome.response_bytes > 0 or outcome.stops > 0
    was_cut = draft.abort is not None and outcome.end == "aborted"
    if was_cut or (outcome.end == "complete" and not has_body):
        for applied in state.applied:
            found_no_body = applied.paces and not applied.waited_s and not applied.is_of_socket
            applied.is_unmet = applied.is_unmet or found_no_body
