"""What the trace has of a WebSocket."""

import json
from typing import Any

import pytest

from tests.lane.support.traffic import Noted, exchange_of, request_head
from warex.engine.http.heads import Headers
from warex.engine.http.websocket import Frame
from warex.lane.sockets.record import WebSocketRecord
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.llm_socket import LlmSocketTraffic
from warex.llm.recognition.websocket import ResponsesDialect
from warex.traces import LlmCall, WebSocketSeen

ASKED = b'{"type": "response.create", "model": "m", "input": "hi"}'
ANSWER = {"type": "response.completed", "response": {"status": "completed", "output": []}}


class Watched:
    """A WebSocket whose record a test sees."""

    def __init__(self, *, model: bool = False, answered: str = "", protocol: str = "") -> None:
        self.noted = Noted()
        exchange = exchange_of(request_head(path="/v1/responses"))
        traffic = Traffic(exchange)
        if model:
            dialect = ResponsesDialect("/v1/responses")
            traffic = LlmSocketTraffic(exchange, self.noted.calls, dialect)
        self.calls: list[str] = []
        self.record = WebSocketRecord(
            traffic,
            self.noted.recorder,
            Headers(
                [
                    (b"sec-websocket-extensions", answered.encode()),
                    (b"sec-websocket-protocol", protocol.encode()),
                ]
            ),
            on_llm_call=lambda: self.calls.append("asked"),
            on_task_ended=lambda: self.calls.append("ended"),
        )

    def seen(self) -> list[tuple[Any, ...]]:
        events = self.noted.events(WebSocketSeen)
        return [(it.what, it.from_client, it.size or it.close_code or it.reason) for it in events]


def test_messages_and_one_close_are_recorded() -> None:
    watched = Watched()
    watched.record.add(Frame(1, b"hello"), from_client=True)
    watched.record.add(Frame(2, b"hi", final=False), from_client=False)
    watched.record.add(Frame(0, b"!"), from_client=False)
    watched.record.add(Frame(8, b"\x0f\xa1"), from_client=True)
    watched.record.add(Frame(8, b"\x0f\xa1"), from_client=False)
    watched.record.close(by_client=True)

    assert watched.seen() == [
        ("message", True, 5),
        ("message", False, 3),
        ("closed", True, 4001),
    ]


def test_an_end_without_a_close_is_abnormal() -> None:
    watched = Watched()
    watched.record.close(by_client=False)

    assert watched.seen() == [("closed", False, 1006)]


@pytest.mark.parametrize("answered", ["", "x-secret"])
def test_only_the_end_of_an_unreadable_websocket_is_recorded(answered: str) -> None:
    watched = Watched(answered=answered)
    watched.record.add(Frame(3, b"", flaw="the opcode 3 is reserved"), from_client=False)
    watched.record.add(Frame(1, b"hello"), from_client=True)
    watched.record.close(by_client=True)

    opaque, closed = watched.seen()
    assert opaque[:2] == ("opaque", False)
    assert closed == ("closed", True, 1006)


def test_calls_to_a_model_are_read() -> None:
    watched = Watched(model=True)
    watched.record.add(Frame(1, ASKED), from_client=True)
    watched.record.add(Frame(1, json.dumps(ANSWER).encode()), from_client=False)

    assert watched.calls == ["asked"]
    assert [it.complete for it in watched.noted.events(LlmCall)] == [True]


def test_a_call_that_is_open_at_the_end_says_why() -> None:
    watched = Watched(model=True)
    watched.record.add(Frame(1, ASKED), from_client=True)
    watched.record.close(by_client=False)

    (call,) = watched.noted.events(LlmCall)
    assert call.error == "the WebSocket was closed before the answer's end"


@pytest.mark.parametrize(
    ("protocol", "begins", "answers"),
    [("graphql-transport-ws", "subscribe", "next"), ("graphql-ws", "start", "data")],
)
def test_the_messages_of_graphql_have_their_operation(
    protocol: str, begins: str, answers: str
) -> None:
    watched = Watched(protocol=protocol)
    query = "subscription Prices($id: ID!) { price(id: $id) }"
    sent: list[tuple[bool, dict[str, object]]] = [
        (True, {"type": "connection_init"}),
        (True, {"id": "1", "type": begins, "payload": {"query": query}}),
        (False, {"id": "1", "type": answers, "payload": {"data": {"price": 3}}}),
        (False, {"id": "1", "type": "complete"}),
        (False, {"id": "1", "type": answers}),
    ]
    for from_client, message in sent:
        watched.record.add(Frame(1, json.dumps(message).encode()), from_client=from_client)

    name = "subscription Prices"
    operations = [it.operation for it in watched.noted.events(WebSocketSeen)]
    assert operations == ["", name, name, name, ""]
