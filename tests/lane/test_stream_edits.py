"""What faults make of a model's streamed answer."""

from collections.abc import Sequence
from typing import Any, override

import pytest
from msgspec.structs import replace

from tests.lane.support.states import open_exchange
from tests.lane.test_plan import KIND, applied
from warex.effects import BreakEvent, CutStream, Effect, EndStreamInError, StallStream
from warex.engine.handler import Pace, Relay, Stop
from warex.exchange import Exchange
from warex.lane.outcome import Arrival, delivery_of
from warex.lane.plan import response_plan
from warex.lane.state import AppliedInjection
from warex.lane.traffic.base import Traffic
from warex.lane.whole_response import WholeResponse
from warex.llm.base import LlmRequest, StreamPoint
from warex.llm.exchange import as_call
from warex.llm.stream import LlmStream, read_stream

CHUNK = '{"choices": [{"index": 0, "delta": {"content": "%s "}, "finish_reason": %s}]}'
WORDS = [
    *(f"data: {CHUNK % (word, 'null')}\n\n".encode() for word in ("one", "two", "three")),
    f"data: {CHUNK % ('four', '"stop"')}\n\n".encode(),
    b"data: [DONE]\n\n",
]
MODEL_STREAM = WholeResponse.make(200, KIND, b"".join(WORDS))


def of_model(*effects: Effect, of: WholeResponse = MODEL_STREAM) -> tuple[Any, AppliedInjection]:
    """Apply effects to the answer of a model."""
    state = open_exchange()
    request = replace(as_call(state.exchange).llm_request, stream=True)
    state.traffic = ModelTraffic(state.exchange, request)
    state.draft.response = of
    hit = applied(state, *effects)
    return response_plan(state.draft, of).then, hit


class ModelTraffic(Traffic):
    """Reads the answers of a model."""

    def __init__(self, exchange: Exchange, request: LlmRequest) -> None:
        super().__init__(exchange)
        self.request = request

    @override
    def stream(
        self, response: WholeResponse, events: Sequence[bytes] | None = None
    ) -> LlmStream | None:
        kind = response.head.headers.get("content-type")
        return read_stream(self.request, kind, response.body, events)


def test_a_stream_falls_silent_before_an_event_and_comes_whole() -> None:
    plan, hit = of_model(StallStream(StreamPoint(events=2), 9.0))

    assert list(plan.pieces) == WORDS
    assert plan.pace == Pace(stops=(Stop(sum(map(len, WORDS[:2])), 9.0),))
    assert hit.is_answer


def test_a_silence_may_come_before_a_cut() -> None:
    plan, _ = of_model(CutStream(StreamPoint(events=2), "reset", 9.0))

    assert plan.pace == Pace(stops=(Stop(sum(map(len, WORDS[:2])), 9.0, "reset"),))


@pytest.mark.parametrize(("before", "comes"), [("finish", 3), ("end_marker", 4)])
def test_a_stream_without_its_end_ends_in_good_order(before: Any, comes: int) -> None:
    plan, _ = of_model(CutStream(StreamPoint(before=before), "clean"))

    assert (list(plan.pieces), plan.cut) == (WORDS[:comes], None)
    assert int(plan.headers.get("content-length")) == sum(map(len, WORDS[:comes]))


def test_one_event_is_broken_and_the_length_is_right() -> None:
    plan, _ = of_model(BreakEvent(StreamPoint(events=1)))

    assert [plan.pieces[0], *plan.pieces[2:]] == [WORDS[0], *WORDS[2:]]
    assert WORDS[1].startswith(plan.pieces[1].removesuffix(b"\n\n"))
    assert int(plan.headers.get("content-length")) == sum(map(len, plan.pieces))
    # What has come by then is all that a client must have.
    assert plan.pace == Pace(stops=(Stop(sum(map(len, plan.pieces[:2]))),))


def test_an_error_comes_in_place_of_the_rest() -> None:
    plan, _ = of_model(EndStreamInError(StreamPoint(events=2), "overloaded"))

    assert list(plan.pieces[:2]) == WORDS[:2]
    assert plan.pieces[2].startswith(b'data: {"error": {"message": ')
    assert (len(plan.pieces), plan.cut) == (3, None)


@pytest.mark.parametrize(
    "effect",
    [
        StallStream(StreamPoint(events=1), 1.0),
        BreakEvent(StreamPoint(events=1)),
        EndStreamInError(StreamPoint(events=1), "overloaded"),
        CutStream(StreamPoint(before="finish"), "clean"),
    ],
)
def test_an_answer_that_is_not_a_stream_passes_and_says_so(effect: Effect) -> None:
    full = WholeResponse.make(200, {"content-type": "application/json"}, b'{"choices": []}')

    plan, hit = of_model(effect, of=full)

    assert plan == Relay()
    assert delivery_of(hit, Arrival(arrived=True)).missed == "not_streamed"
