"""Applies the faults of a model's stream to its answer, which is divided into events."""

from collections.abc import Sequence

from warex.effects import BreakEvent, CutStream, EndStreamInError, Stall, StallStream, Truncate
from warex.lane.state import AppliedInjection, Draft, ExchangeState, PlannedStop
from warex.llm.stream import LlmStream

type StreamEffect = StallStream | CutStream | BreakEvent | EndStreamInError


def edit_stream(
    state: ExchangeState, draft: Draft, applied: AppliedInjection, effect: StreamEffect
) -> None:
    """Apply an effect to the answer; note it if that is not a stream."""
    response = None if draft.response is None else draft.response.decoded()
    stream = None if response is None else state.traffic.stream(response, draft.pieces)
    if stream is None:
        applied.not_streamed = True
        return
    draft.response = response
    applied.is_answer = True
    match effect:
        case StallStream(at, seconds):
            draft.pieces = list(stream.events)
            _stop(draft, applied, stream, stream.index_of(at), seconds)
        case CutStream(at, "clean"):
            _replace(draft, stream.events[: stream.index_of(at)])
        case CutStream(at, how, silence):
            draft.pieces = list(stream.events)
            end = Truncate(_bytes_of(stream, stream.index_of(at)), how, "bytes", silence)
            draft.stops.append(PlannedStop(applied, end))
        case BreakEvent(at):
            _break_event(draft, applied, stream, stream.breakable(at))
        case EndStreamInError(at, error):
            _replace(draft, stream.broken_off(at, error))


def _break_event(
    draft: Draft, applied: AppliedInjection, stream: LlmStream, number: int | None
) -> None:
    if number is None:
        applied.is_unmet = True
        return
    stream = stream.with_broken_event(number)
    _replace(draft, stream.events)
    if number + 1 < len(stream.events):  # Clients leave once they have it.
        _stop(draft, applied, stream, number + 1, 0.0)


def _stop(
    draft: Draft, applied: AppliedInjection, stream: LlmStream, number: int, seconds: float
) -> None:
    stall = Stall(seconds, _bytes_of(stream, number), "bytes")
    draft.stops.append(PlannedStop(applied, stall))


def _bytes_of(stream: LlmStream, number: int) -> int:
    return sum(map(len, stream.events[:number]))


def _replace(draft: Draft, pieces: Sequence[bytes]) -> None:
    """Have the client get these pieces, in good order."""
    draft.pieces = list(pieces)
    if draft.response is not None:
        draft.response = draft.response.with_body(b"".join(pieces))
