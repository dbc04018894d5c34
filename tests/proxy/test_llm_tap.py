"""An LLM call, read once it is over."""

import gzip
import json

import pytest
from pydantic import JsonValue

from warex.llm import Usage, recognise
from warex.llm.actions import Progress, Vocabulary
from warex.proxy.llm_tap import LlmTap, ReadCall, read_call

VOCABULARY = Vocabulary(
    name="test", navigate=("click",), recover=("reload",), retry=("reload",), finish=("stop",)
)


ASKED: JsonValue = {"role": "user", "content": "now?"}


def tap(message: JsonValue = ASKED, *, stream: bool = False) -> LlmTap:
    body: JsonValue = {"model": "m", "stream": stream, "messages": [message], "top_p": 0.5}
    path = "/v1/chat/completions"
    request = recognise("POST", path, "application/json", json.dumps(body).encode())
    assert request is not None
    return LlmTap(request, f"https://llm.example{path}?key=secret", step=3, began=10.0)


def read(call: LlmTap, body: bytes = b"", **given: object) -> ReadCall:
    if body:
        call.add(body, 10.5)
    known = {
        "status": 200,
        "content_type": "application/json",
        "content_encoding": "",
        "error": None,
        "now": 12.0,
        "vocabulary": VOCABULARY,
        "progress": Progress(),
        "blobs": None,
    }
    return read_call(call, "x1", **{**known, **given})  # type: ignore[arg-type]


def said(text: str, **more: JsonValue) -> bytes:
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
    return json.dumps({"model": "m-1", "choices": [choice], **more}).encode()


def test_a_call_is_one_event() -> None:
    event = read(
        tap(), said("click('3')", usage={"prompt_tokens": 9, "completion_tokens": 2})
    ).event
    assert (event.model, event.answer, event.step, event.complete) == ("m-1", "click('3')", 3, True)
    assert (event.input_tokens, event.output_tokens, event.usage) == (9, 2, "reported")
    assert (event.began, event.first_token_s, event.latency_s) == (10.0, 0.5, 2.0)
    assert (event.model_asked, event.top_p, event.temperature) == ("m", 0.5, None)
    assert "secret" not in event.url


def called(arguments: str) -> JsonValue:
    return [{"id": "t1", "type": "function", "function": {"name": "fill", "arguments": arguments}}]


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ('{"password": "hush", "user": "é"}', '{"password": "[redacted]", "user": "é"}'),
        ('{"fields":[{"token":"hush"}]}', '{"fields": [{"token": "[redacted]"}]}'),
        ('{"user":"me"}', '{"user":"me"}'),
        ('{"user": "cut of', '{"user": "cut of'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_a_tool_calls_arguments_are_redacted_in_the_answer_and_in_what_is_sent_again(
    arguments: str, kept: str
) -> None:
    message: dict[str, JsonValue] = {
        "role": "assistant",
        "content": None,
        "tool_calls": called(arguments),
    }
    body: JsonValue = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}

    event = read(tap(message), json.dumps(body).encode()).event

    assert event.tool_calls == [{"id": "t1", "name": "fill", "arguments": kept}]
    assert event.messages == [{**message, "tool_calls": called(kept)}]


@pytest.mark.parametrize(
    ("text", "name", "role", "final"),
    [
        ("click('3')", "click", "navigate", False),
        ("reload()", "reload", "recover", False),
        ("stop('done')", "stop", "finish", True),
    ],
)
def test_the_agents_action_is_read_out_of_the_answer(
    text: str, name: str, role: str, final: bool
) -> None:
    call = read(tap(), said(text))
    assert [(action.name, action.role, action.step) for action in call.actions] == [(name, role, 3)]
    assert call.final is final


def test_without_a_vocabulary_no_action_is_read() -> None:
    call = read(tap(), said("stop('done')"), vocabulary=None)
    assert (call.actions, call.final) == ((), False)


def test_a_compressed_answer_is_read() -> None:
    event = read(tap(), gzip.compress(said("hello")), content_encoding="gzip").event
    assert event.answer == "hello"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"status": None, "error": "the site has gone"}, "the site has gone"),
        ({"status": None}, "no answer came"),
        ({"status": 401, "body": b'{"error": {"message": "no key"}}'}, "HTTP 401: no key"),
        ({"body": b"<html>rubbish"}, "not JSON"),
        ({"body": gzip.compress(said("hello"))[:30], "content_encoding": "gzip"}, "empty"),
        ({"body": b"\xff\xfe", "content_encoding": "no-such"}, "empty"),
    ],
)
def test_what_is_no_answer_is_an_error_and_never_the_end(
    given: dict[str, object], complaint: str
) -> None:
    body = given.pop("body", b"")
    assert isinstance(body, bytes)
    call = read(tap(), body, **given)
    assert complaint in (call.event.error or "")
    assert not call.event.complete
    assert not call.final
    assert call.actions == ()


def test_a_stream_that_is_cut_says_why_and_keeps_what_came() -> None:
    begun = b'data: {"choices": [{"index": 0, "delta": {"content": "stop(\'x\')"}}]}\n\n'
    call = read(
        tap(stream=True), begun, content_type="text/event-stream", error="Client disconnected."
    )
    assert (call.event.answer, call.event.complete) == ("stop('x')", False)
    assert call.event.error == "Client disconnected."
    assert not call.final


def test_every_kind_of_token_that_the_api_reports_stands_in_the_event() -> None:
    usage: JsonValue = {
        "prompt_tokens": 1200,
        "completion_tokens": 90,
        "prompt_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 500},
        "completion_tokens_details": {"reasoning_tokens": 64},
    }
    event = read(tap(), said("Hello.", usage=usage)).event

    assert event.tokens == Usage(1200, 90, cache_read=300, cache_write=500, reasoning=64)
