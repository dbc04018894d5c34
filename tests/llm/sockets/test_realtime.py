import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import LlmAnswer, read_answer
from warex.llm.sockets.realtime import RealtimeSocket

SESSION = {
    "id": "sess_1",
    "model": "gpt-realtime",
    "instructions": "Help.",
    "tools": [{"name": "a"}],
}
USAGE = {
    "total_tokens": 40,
    "input_tokens": 30,
    "output_tokens": 10,
    "input_token_details": {"cached_tokens": 20, "text_tokens": 5, "audio_tokens": 25},
    "output_token_details": {"text_tokens": 10},
}


def sent(**message: Any) -> bytes:
    return json.dumps(message).encode()


def opened() -> RealtimeSocket:
    api = RealtimeSocket("/v1/realtime?model=gpt-realtime")
    assert api.event(sent(type="session.created", session=SESSION)) is None
    return api


def answer(api: RealtimeSocket, *messages: bytes) -> LlmAnswer:
    """Ask, and return what is read of the answer."""
    asked = api.request(sent(type="response.create"))
    assert asked is not None
    assert asked.request is not None
    events = [event for it in messages if (event := api.event(it)) is not None]
    assert [it.is_end for it in events] == [*[False] * (len(events) - 1), True]
    return read_answer(
        asked.request, 200, "text/event-stream", b"".join(it.content for it in events)
    )


def done(status: str = "completed", **more: Any) -> bytes:
    message = {"type": "message", "content": [{"type": "output_audio", "transcript": "Hello."}]}
    call = {"type": "function_call", "name": "buy", "call_id": "c1", "arguments": '{"id": 3}'}
    response = {"id": "r1", "status": status, "output": [message, call], "usage": USAGE, **more}
    return sent(type="response.done", response=response)


def test_an_answer_is_read_with_its_words_calls_and_tokens() -> None:
    said = answer(
        opened(),
        sent(type="response.created", response={"id": "r1"}),
        sent(type="response.output_audio.delta", response_id="r1", delta="UklGR" * 9),
        sent(type="response.output_audio_transcript.delta", response_id="r1", delta="Hel"),
        done(),
    )

    assert (said.text, said.model, said.complete) == ("Hello.", "gpt-realtime", True)
    assert [(it.id, it.name, it.arguments) for it in said.tool_calls] == [
        ("c1", "buy", '{"id": 3}')
    ]
    assert said.usage is not None
    assert (said.usage.input_total, said.usage.output_total, said.usage.cache_read) == (30, 10, 20)
    assert said.usage.source == "reported"


def test_what_was_said_is_in_the_request() -> None:
    api = opened()
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    assert api.request(sent(type="conversation.item.create", item=item)) is None
    assert api.request(sent(type="input_audio_buffer.append", audio="AAAA")) is None
    asked = api.request(sent(type="response.create"))

    assert asked is not None
    assert asked.request is not None
    assert asked.request.messages == [{"role": "system", "content": "Help."}, item]
    assert (asked.request.api, asked.request.tools) == ("openai_realtime", [{"name": "a"}])
    assert asked.request.continues == "sess_1"


def test_an_answer_to_a_voice_is_begun_by_the_server() -> None:
    api = opened()
    event = api.event(sent(type="response.created", response={"id": "r1"}))
    assert event is not None
    assert event.begins is not None
    assert event.begins.stream == "r1"
    api.request(sent(type="response.create"))
    asked = api.event(sent(type="response.created", response={"id": "r2"}))
    assert asked is not None
    assert (asked.begins, asked.opens) == (None, True)


@pytest.mark.parametrize(
    ("status", "details", "finish", "error"),
    [
        ("incomplete", {"reason": "max_output_tokens"}, "length", None),
        ("incomplete", {"reason": "content_filter"}, "content_filter", None),
        ("cancelled", {"reason": "client_cancelled"}, "tool_calls", None),
        ("failed", {"error": {"code": "x", "message": "Broken."}}, "error", "Broken."),
    ],
)
def test_an_answer_says_why_it_ends(
    status: str, details: dict[str, Any], finish: str, error: str | None
) -> None:
    said = answer(opened(), done(status, status_details=details))

    assert said.finish == finish
    assert error is None or error in (said.error or "")


def test_an_error_ends_the_request_that_it_names_and_no_other() -> None:
    api = opened()
    api.request(sent(type="response.create", event_id="e1"))
    other = sent(type="error", error={"event_id": "e0", "message": "Bad."})
    refused = sent(type="error", error={"event_id": "e1", "message": "Busy."})

    assert api.event(other) is None
    event = api.event(refused)
    assert event is not None
    assert event.is_end


@given(st.binary())
def test_no_message_makes_reading_fail(message: bytes) -> None:
    api = RealtimeSocket("/v1/realtime")
    api.request(message)
    api.event(message)
