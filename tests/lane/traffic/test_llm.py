"""A call to a model, from its request to its record; over sockets in tests/proxy/exchanges."""

import gzip
import json
from typing import Any

import pytest

from tests.lane.support.traffic import (
    CHAT,
    Noted,
    exchange_of,
    injected,
    request_head,
    response_head,
)
from warex.effects import Reply
from warex.engine.http.heads import RequestHead
from warex.errors import TrialVoid
from warex.lane.traffic.base import Ending
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.whole_response import WholeResponse
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.defences import Defence
from warex.llm.exchange import LlmExchange
from warex.traces import DefenceApplied, LlmCall, LlmRetried, LlmUnread

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "now?"}]}).encode()
JSON = response_head(content_type="application/json")
HINT = Defence(name="hint", text="Be careful.")
WORDS = Vocabulary(name="test", finish=("stop",))


def text_answer(text: str) -> bytes:
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    return json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()


def asks(noted: Noted, name: str = "x1", body: bytes = BODY) -> LlmTraffic:
    head = asked()
    result = noted.kinds.recognise(exchange_of(head, name), "other", head.path, body, noted.calls)
    assert isinstance(result, LlmTraffic)
    result.begin(noted.calls)
    noted.calls.note_recorded(result)
    return result


def asked(**fields: str) -> RequestHead:
    return request_head("POST", CHAT, "llm.test", **fields)


def test_a_streamed_answer_passes_and_is_one_event() -> None:
    noted = Noted(vocabulary=WORDS)
    call = asks(noted)
    noted.now = 1.5
    assert call.feed(text_answer("stop('x')")) == text_answer("stop('x')")
    assert call.feed(b"") == b""
    noted.now = 2.0

    assert call.end(Ending(head=JSON, began=True))
    (event,) = noted.events(LlmCall)
    assert (event.answer, event.status, event.step) == ("stop('x')", 200, 1)
    assert (event.first_token_s, event.latency_s, event.usage) == (1.5, 2.0, "reported")


def test_rules_see_the_models_last_answer_of_an_earlier_step() -> None:
    noted = Noted()
    first = asks(noted)
    first.feed(text_answer("click"))
    first.end(Ending(head=JSON))
    second = asks(noted, "x2", BODY.replace(b"now", b"then"))

    assert isinstance(second.exchange, LlmExchange)
    assert second.exchange.step == 2
    assert second.exchange.previous_answer is not None
    assert second.exchange.previous_answer.text == "click"


def test_a_faults_answer_has_the_cost_of_the_one_it_replaced() -> None:
    noted = Noted()
    call = asks(noted)
    call.read_buffered(WholeResponse(JSON, text_answer("the model's")))
    call.reset()
    call.end(Ending(head=JSON, body=text_answer("a fault's"), by_warex=True))

    (event,) = noted.events(LlmCall)
    assert (event.answer, event.input_tokens, event.output_tokens) == ("a fault's", 9, 2)


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ({"error": "cut"}, None),
        ({"error": "cut", "began": True}, 200),
        ({"error": "cut", "in_part": True, "by_warex": True}, 200),
        ({}, 200),
    ],
)
def test_only_what_the_client_has_of_an_answer_has_a_status(
    ending: dict[str, Any], status: int | None
) -> None:
    noted = Noted()
    asks(noted).end(Ending(head=JSON, **ending))

    assert [it.status for it in noted.events(LlmCall)] == [status]


def test_a_call_of_an_earlier_task_does_not_end_this_one() -> None:
    noted = Noted(vocabulary=WORDS)
    call = asks(noted)
    noted.calls.begin_task()
    call.feed(text_answer("stop('x')"))

    assert not call.end(Ending(head=JSON))


def test_a_retry_has_its_clients_waiting_time() -> None:
    noted = Noted()
    first = asks(noted)
    first.note_delivered(injected(Reply(429, {"retry-after": "5"})))
    noted.now = 7.0
    asks(noted, "x2")

    assert [(it.retry_after_s, it.waited_s) for it in noted.events(LlmRetried)] == [(5.0, 7.0)]


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_a_defence_is_added_in_the_coding_of_the_request(coding: str) -> None:
    noted = Noted(defence=HINT)
    call = asks(noted)
    sent = call.prepare(asked(content_encoding=coding), gzip.compress(BODY) if coding else BODY)

    said_to_model = json.loads(gzip.decompress(sent) if coding else sent)
    assert said_to_model["messages"][0] == {"role": "system", "content": HINT.text}
    assert [it.defence for it in noted.events(DefenceApplied)] == ["hint"]


def test_without_a_defence_the_request_is_the_clients_own() -> None:
    assert asks(Noted()).prepare(asked(), BODY) is BODY


def test_what_cannot_have_the_defence_voids_the_trial() -> None:
    call = asks(Noted(defence=HINT))
    with pytest.raises(TrialVoid, match=r"cannot be added to a request to llm\.test"):
        call.prepare(asked(content_encoding="rot13"), BODY)


def test_a_call_that_cannot_be_read_voids_only_a_trial_with_a_defence() -> None:
    head = request_head("POST", CHAT, "api.openai.com")
    for noted in (Noted(), Noted(defence=HINT)):
        result = noted.kinds.recognise(exchange_of(head), "other", CHAT, b"no", noted.calls)
        if noted.config.defence is None:
            noted.calls.note_recorded(result)
        else:
            with pytest.raises(TrialVoid, match="it cannot be read"):
                noted.calls.note_recorded(result)
        assert len(noted.events(LlmUnread)) == 1


@pytest.mark.parametrize(
    ("kind", "coding", "is_read"),
    [
        ("text/event-stream; charset=utf-8", "", True),
        ("text/event-stream", "gzip", False),
        ("application/json", "", False),
    ],
)
def test_a_stream_of_events_is_read_as_it_comes(kind: str, coding: str, is_read: bool) -> None:
    call = asks(Noted())
    call.answered(response_head(content_type=kind, content_encoding=coding))
    call.feed(b'data: {"model": "m", "choices": [{"index": 0, "delta": {"content": "hi"}}]}\n\n')
    assert (call.tap.begun is not None and call.tap.begun.has_content) is is_read


def test_a_request_of_too_many_values_is_unread() -> None:
    noted = Noted()
    head = asked()
    body = BODY[:-1] + b', "x": [' + b"[]," * 310_000 + b"[]]}"
    result = noted.kinds.recognise(exchange_of(head, "x1"), "other", head.path, body, noted.calls)
    assert result.unread_llm == "its JSON has more than 300,000 objects, arrays and keys"
