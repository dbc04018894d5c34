"""WebSockets pass, their messages are counted, and calls to a model among them are read."""

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import websockets.sync.client
from websockets.exceptions import ConnectionClosed

from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import server_context
from tests.proxy.support.websocket import answering_site, echo_site
from warex.faults.llm.llm_error import LlmError
from warex.faults.server.http_error import HttpError
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.defences import Defence
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import (
    AgentAction,
    Armed,
    Disarmed,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    LlmCall,
    LlmUnread,
    RequestSeen,
    ResponseSeen,
    WebSocketSeen,
)

pytestmark = pytest.mark.wire


def test_a_websocket_passes_untouched(
    begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    certificate, key = ca.leaf("localhost", tmp_path)
    with echo_site(server_context(certificate, key, ["http/1.1"])) as port, begin() as lane:
        trusted = ssl.create_default_context(cafile=str(ca.certificate))
        with websockets.sync.client.connect(
            f"wss://localhost:{port}/ws", proxy=lane.url, ssl=trusted
        ) as channel:
            for message in ("héllo", b"\x00\xff" * 5000, ""):
                channel.send(message)
                assert channel.recv(timeout=30) == message
            channel.close(4001, "enough")
    seen = lane.events(WebSocketSeen)
    assert [(e.what, e.from_client, e.size, e.text) for e in seen[:4]] == [
        ("message", True, 6, True),
        ("message", False, 6, True),
        ("message", True, 10000, False),
        ("message", False, 10000, False),
    ]
    assert (seen[-1].what, seen[-1].from_client, seen[-1].close_code) == ("closed", True, 4001)
    assert [event.resource for event in lane.events(RequestSeen)] == ["websocket"]
    assert [event.status for event in lane.events(ResponseSeen)] == [101]


WORDS = Vocabulary(name="test", recover=("reload",), finish=("stop",))
CREATED = {"type": "response.created", "response": {"model": "gpt-4.1", "output": []}}


def create(text: str, **more: Any) -> str:
    return json.dumps({"type": "response.create", "model": "gpt-4.1", "input": text, **more})


def answered(name: str) -> list[str | bytes]:
    """Return the events of an answer that calls a tool."""
    item = {"type": "function_call", "call_id": "c1", "name": name, "arguments": "{}"}
    usage = {"input_tokens": 9, "output_tokens": 2}
    response = {"model": "gpt-4.1", "status": "completed", "output": [item], "usage": usage}
    return [json.dumps(CREATED), json.dumps({"type": "response.completed", "response": response})]


BEGUN = [json.dumps(CREATED), json.dumps({"type": "response.output_text.delta", "delta": "So"})]


class Model:
    """A model over a WebSocket: it calls the tool that it is given, and closes if given none."""

    def __init__(self) -> None:
        self.inputs: list[str] = []

    def __call__(self, message: str | bytes) -> list[str | bytes]:
        sent = json.loads(message)
        self.inputs.append(sent["input"])
        if sent.get("generate") is False:
            return answered("warm")[1:]
        if sent["input"] == "begin":
            return [*BEGUN]
        return answered(sent["input"]) if sent["input"] else []


@contextmanager
def socket(lane: Lane, port: int, **more: Any) -> Iterator[websockets.sync.client.ClientConnection]:
    url = f"ws://127.0.0.1:{port}/v1/responses"
    with websockets.sync.client.connect(url, proxy=lane.url, **more) as channel:
        yield channel


def test_calls_to_a_model_over_a_websocket_are_read(begin: Begin) -> None:
    # A rule about every request, which does not name the model's host.
    rule = scenario(HttpError(status=500))
    with (
        answering_site(Model()) as port,
        begin(vocabulary=WORDS, scenario=rule, arm="first_llm_call") as lane,
        socket(lane, port) as channel,
    ):
        channel.send(create("", generate=False))
        channel.recv(timeout=30)
        for name in ("reload", "stop"):
            channel.send(create(name, previous_response_id="resp_0"))
            assert [channel.recv(timeout=30) for _ in range(2)] == answered(name)
    calls = lane.events(LlmCall)
    assert [(c.exchange, c.step, c.complete, c.error) for c in calls] == [
        ("x1/1", 1, True, None),
        ("x1/2", 2, True, None),
    ]
    assert [c.messages for c in calls] == [
        [{"role": "user", "content": n}] for n in ("reload", "stop")
    ]
    assert {(c.family, c.model, c.status, c.stream, c.continues) for c in calls} == {
        ("openai_responses", "gpt-4.1", 200, True, "resp_0")
    }
    assert [(c.input_tokens, c.output_tokens, c.usage) for c in calls] == [(9, 2, "reported")] * 2
    assert [(a.exchange, a.name) for a in lane.events(AgentAction)] == [
        ("x1/1", "reload"),
        ("x1/2", "stop"),
    ]
    assert [event.by for event in lane.events(Armed)] == ["first_llm_call"]
    assert lane.events(Disarmed)[0].by == "terminal_action"
    assert not lane.events(FaultPlanned) + lane.events(LlmUnread)


@pytest.mark.slow
def test_a_call_whose_websocket_closes_is_cut(begin: Begin) -> None:
    with answering_site(Model()) as port, begin() as lane:
        with socket(lane, port) as channel:
            channel.send(create("begin"))
            assert [channel.recv(timeout=30) for _ in range(2)] == BEGUN
        (call,) = lane.events(LlmCall)
    assert (call.complete, call.finish, call.answer) == (False, "cut", "So")
    assert call.error == "the WebSocket was closed before the answer's end"


@pytest.mark.slow
def test_what_is_not_understood_over_a_websocket_is_unread(begin: Begin) -> None:
    with answering_site(Model()) as port, begin() as lane:
        with socket(lane, port) as channel:
            channel.send(create("", model=3))
            with pytest.raises(ConnectionClosed):
                channel.recv(timeout=30)
        # A page's own socket is its site's.
        with socket(lane, port, origin="http://shop.example") as channel:
            channel.send(create("reload"))
            channel.recv(timeout=30)
    (unread,) = lane.events(LlmUnread)
    assert (unread.exchange, unread.reason) == ("x1", "its body has no form that WAREX reads")
    assert not lane.events(LlmCall)


@pytest.mark.slow
def test_a_fault_of_models_that_cannot_strike_over_a_websocket_is_missed(begin: Begin) -> None:
    named = {"family": "openai_responses", "step": 2}
    rules = scenario(LlmError(), match={"llm": named})
    with (
        answering_site(Model()) as port,
        begin(vocabulary=WORDS, scenario=rules) as lane,
        socket(lane, port) as channel,
    ):
        for name in ("reload", "stop"):
            channel.send(create(name))
            assert [channel.recv(timeout=30) for _ in range(2)] == answered(name)
    assert [call.step for call in lane.events(LlmCall)] == [1, 2]
    assert [(m.rule, m.reason, m.count) for m in lane.events(FaultMissed)] == [
        ("rule", "websocket", 1)
    ]


@pytest.mark.slow
def test_an_unknown_websocket_message_under_a_defence_voids_the_trial(
    begin: Begin,
) -> None:
    model, hint = Model(), Defence(name="hint", text="Mind.")
    with (
        answering_site(model) as port,
        begin(defence=hint) as lane,
        socket(lane, port) as channel,
    ):
        channel.send('{"type": "response.create", "model": 7, "input": 7}')
        with pytest.raises(ConnectionClosed):
            channel.recv(timeout=30)
    (broke,) = lane.events(HarnessBroke)
    assert "the defence 'hint' cannot be added to a request to 127.0.0.1" in broke.reason
    assert model.inputs == []


@pytest.mark.slow
def test_a_websocket_model_call_under_a_defence_voids_the_trial(
    begin: Begin,
) -> None:
    model, hint = Model(), Defence(name="hint", text="Mind.")
    with (
        answering_site(model) as port,
        begin(defence=hint) as lane,
        socket(lane, port) as channel,
    ):
        channel.send(create("reload"))
        with pytest.raises(ConnectionClosed):
            channel.recv(timeout=30)
    (broke,) = lane.events(HarnessBroke)
    assert "the defence 'hint' cannot be added to a call over a WebSocket" in broke.reason
    assert model.inputs == []


def test_an_answer_of_a_realtime_api_is_a_call(begin: Begin) -> None:
    """Also one that the server begins, which has heard the end of a turn."""
    usage = {"input_tokens": 20, "output_tokens": 9}
    item = {"type": "message", "content": [{"type": "output_audio", "transcript": "Done."}]}
    response = {"status": "completed", "output": [item], "usage": usage}
    events: list[str | bytes] = [
        json.dumps({"type": "response.created"}),
        json.dumps({"type": "response.done", "response": response}),
    ]
    with answering_site(lambda message: events) as port, begin() as lane:
        url = f"ws://127.0.0.1:{port}/v1/realtime?model=gpt-realtime"
        with websockets.sync.client.connect(url, proxy=lane.url) as channel:
            for sent in ("response.create", "input_audio_buffer.append"):
                channel.send(json.dumps({"type": sent}))
                assert [channel.recv(timeout=30) for _ in range(2)] == events
    calls = lane.events(LlmCall)
    assert [(it.exchange, it.step, it.model, it.answer, it.complete) for it in calls] == [
        ("x1/1", 1, "gpt-realtime", "Done.", True),
        ("x1/2", 2, "gpt-realtime", "Done.", True),
    ]
    assert [(it.input_tokens, it.output_tokens) for it in calls] == [(20, 9), (20, 9)]
    assert not lane.events(LlmUnread)
