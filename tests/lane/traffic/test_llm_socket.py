"""Calls to a model over a WebSocket; over sockets in tests/proxy/exchanges."""

import json

import pytest

from tests.lane.support.traffic import Noted, exchange_of, request_head
from warex.errors import TrialVoid
from warex.lane.traffic.llm_socket import LlmSocketTraffic
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.defences import Defence
from warex.traces import LlmCall, LlmUnread

ASKED = b'{"type": "response.create", "model": "m", "input": "hi"}'
ITEM = {"type": "function_call", "call_id": "c1", "name": "stop", "arguments": "{}"}
ANSWER = {"type": "response.completed", "response": {"status": "completed", "output": [ITEM]}}


def opened(noted: Noted) -> LlmSocketTraffic:
    head = request_head(path="/v1/responses", host="llm.test", upgrade="websocket")
    result = noted.kinds.recognise(exchange_of(head), "websocket", head.path, b"", noted.calls)
    assert isinstance(result, LlmSocketTraffic)
    return result


def test_a_call_ends_with_its_answer_and_may_end_the_task() -> None:
    noted = Noted(vocabulary=Vocabulary(name="test", finish=("stop",)))
    channel = opened(noted)

    assert not channel.client_message(b"{}")
    assert channel.client_message(ASKED)
    noted.now = 2.0
    assert channel.server_message(json.dumps(ANSWER).encode())
    (call,) = noted.events(LlmCall)
    assert (call.exchange, call.step, call.complete, call.latency_s) == ("x1/1", 1, True, 2.0)


def test_what_is_open_when_it_closes_has_no_answer() -> None:
    noted = Noted()
    channel = opened(noted)
    channel.client_message(ASKED)
    channel.abandon("it was closed", opaque=False)
    channel.abandon("it was closed", opaque=False)

    assert [(it.status, it.error) for it in noted.events(LlmCall)] == [(None, "it was closed")]


def test_a_channel_that_becomes_opaque_is_unread() -> None:
    noted = Noted()
    opened(noted).abandon("a strange frame", opaque=True)

    (unread,) = noted.events(LlmUnread)
    assert unread.reason == "its WebSocket cannot be read: a strange frame"


def test_a_defence_cannot_be_added_there() -> None:
    channel = opened(Noted(defence=Defence(name="hint", text="Be careful.")))
    with pytest.raises(TrialVoid, match=r"a call over a WebSocket, to llm\.test"):
        channel.client_message(ASKED)
