"""Calls over one WebSocket find their answers."""

import json

from warex.lane.traffic.llm_tap import LlmTap
from warex.lane.traffic.llm_websocket import LlmWebsocketCall, LlmWebsocketCalls
from warex.llm.recognition.websocket import parse_event, parse_request


def tap() -> LlmTap:
    request = parse_request(
        "/v1/responses", b'{"type": "response.create", "model": "m", "input": "hi"}'
    )
    assert request is not None
    assert request.request is not None
    return LlmTap(request.request, "wss://llm.example/v1/responses", step=1, began=0.0)


def received(
    calls: LlmWebsocketCalls, kind: str, stream: str = "", **more: object
) -> LlmWebsocketCall | None:
    message = {"type": kind} | ({"stream_id": stream} if stream else {}) | more
    return calls.receive(parse_event(json.dumps(message).encode()), 1.0)


def test_calls_of_a_stream_are_answered_one_after_the_other() -> None:
    calls, first, second = LlmWebsocketCalls("x5"), tap(), tap()
    calls.begin("", first)
    calls.begin("", second)

    assert received(calls, "response.created") is None
    assert received(calls, "response.completed") == LlmWebsocketCall("x5/1", first)
    assert second.body == b""
    assert received(calls, "error") == LlmWebsocketCall("x5/2", second)
    assert received(calls, "response.completed") is None


def test_calls_of_several_streams_are_answered_side_by_side() -> None:
    calls, first, second = LlmWebsocketCalls("x5"), tap(), tap()
    calls.begin("a", first)
    calls.begin("b", second)

    assert received(calls, "response.completed", "b") == LlmWebsocketCall("x5/2", second)
    assert received(calls, "response.completed", "a") == LlmWebsocketCall("x5/1", first)


def test_an_error_without_a_stream_ends_the_call_that_waits_longest() -> None:
    calls, first = LlmWebsocketCalls("x5"), tap()
    calls.begin("a", first)

    assert received(calls, "error") == LlmWebsocketCall("x5/1", first)


def test_what_generates_nothing_takes_its_own_answer() -> None:
    calls, first = LlmWebsocketCalls("x5"), tap()
    calls.begin("", None)
    calls.begin("", first)

    over = received(calls, "response.completed")

    assert over is not None
    assert over.tap is None
    assert list(calls.abandon()) == [LlmWebsocketCall("x5/1", first)]
    assert list(calls.abandon()) == []


def test_a_call_that_is_refused_has_the_status_of_its_error() -> None:
    calls = LlmWebsocketCalls("x5")
    calls.begin("", tap())
    calls.begin("", tap())

    refused = received(calls, "error", status=429)
    received(calls, "response.created")
    broken = received(calls, "error", status=500)

    assert refused is not None
    assert refused.status == 429
    assert refused.tap is not None
    assert refused.tap.body == b'{"type": "error", "status": 429}'
    assert broken is not None
    assert broken.status == 200
