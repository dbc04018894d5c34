"""Realtime APIs over a WebSocket: which carry calls, and what is read of an answer."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import LlmAnswer, LlmRequest, read_answer
from warex.llm.recognition.realtime import GeminiLive, OpenAiRealtime, dialect_of
from warex.llm.recognition.websocket import Dialect, ResponsesDialect

SOCKET: dict[str, str] = {"upgrade": "websocket"}
PAGES = SOCKET | {"origin": "https://shop.example"}
EXTENSIONS = SOCKET | {"origin": "chrome-extension://abc"}
LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x"
VERTEX = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"


@pytest.mark.parametrize(
    ("host", "path", "headers", "kind"),
    [
        ("gateway.example", "/v1/responses", SOCKET, ResponsesDialect),
        ("gateway.example", "/openai/v1/responses?api-version=preview", SOCKET, ResponsesDialect),
        ("gateway.example", "/v1/responses", PAGES, None),
        ("gateway.example", "/v1/responses", EXTENSIONS, ResponsesDialect),
        ("api.openai.com", "/v1/responses", PAGES, ResponsesDialect),
        ("api.openai.com", "/v1/realtime", SOCKET, OpenAiRealtime),
        ("gateway.example", "/v1/realtime?model=gpt-realtime", SOCKET, OpenAiRealtime),
        ("x.openai.azure.com", "/openai/realtime?deployment=ours", SOCKET, OpenAiRealtime),
        ("shop.example", "/realtime", SOCKET, None),
        ("generativelanguage.googleapis.com", LIVE, SOCKET, GeminiLive),
        ("us-central1-aiplatform.googleapis.com", VERTEX, SOCKET, GeminiLive),
        ("shop.example", "/ws", SOCKET, None),
    ],
)
def test_a_program_s_socket_to_a_model_has_a_dialect(
    host: str, path: str, headers: dict[str, str], kind: type[Dialect] | None
) -> None:
    dialect = dialect_of(host, path, headers)

    assert (None if dialect is None else type(dialect)) is kind


def asked(dialect: Dialect, *messages: Any) -> LlmRequest:
    """Return the request by which the last of a client's messages begins an answer."""
    for message in messages[:-1]:
        assert dialect.client(json.dumps(message).encode()) is None
    sent = dialect.client(json.dumps(messages[-1]).encode())
    assert sent is not None
    assert sent.request is not None
    return sent.request


def answered(dialect: Dialect, request: LlmRequest, *messages: Any) -> LlmAnswer:
    """Return the answer in a server's messages, of which only the last ends it."""
    events = [dialect.server(json.dumps(message).encode()) for message in messages]
    assert [event.is_end for event in events] == [False] * (len(events) - 1) + [True]
    body = b"".join(event.data for event in events)
    return read_answer(request, 200, "text/event-stream", body)


def realtime() -> OpenAiRealtime:
    dialect = dialect_of("api.openai.com", "/v1/realtime?model=gpt-realtime", SOCKET)
    assert isinstance(dialect, OpenAiRealtime)
    return dialect


TOOL = {"type": "function", "name": "click"}
MESSAGE = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
CALL = {"type": "function_call", "call_id": "c1", "name": "click", "arguments": '{"id": 4}'}
TRANSCRIPT = {"type": "message", "content": [{"type": "output_audio", "transcript": "Done."}]}
USAGE = {
    "input_tokens": 20,
    "output_tokens": 9,
    "input_token_details": {"cached_tokens": 5, "audio_tokens": 2},
    "output_token_details": {"text_tokens": 9},
}


def test_a_session_s_messages_make_the_request() -> None:
    request = asked(
        realtime(),
        {"type": "session.update", "session": {"instructions": "Be kind.", "tools": [TOOL]}},
        {"type": "conversation.item.create", "item": MESSAGE},
        {"type": "response.create"},
    )

    assert (request.api, request.model, request.stream) == (
        "openai_responses",
        "gpt-realtime",
        True,
    )
    assert request.messages == [{"role": "system", "content": "Be kind."}, MESSAGE]
    assert request.tools == [TOOL]
    assert request.continues is None


def test_an_answer_of_realtime_is_read_with_its_tokens() -> None:
    dialect = realtime()
    request = asked(dialect, {"type": "response.create"})

    answer = answered(
        dialect,
        request,
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_audio.delta", "delta": "UklGRg=="},
        {"type": "response.output_audio_transcript.delta", "delta": "Do", "output_index": 0},
        {"type": "response.function_call_arguments.delta", "delta": '{"id"', "output_index": 1},
        {"type": "response.output_item.done", "output_index": 0, "item": TRANSCRIPT},
        {
            "type": "response.done",
            "response": {"status": "completed", "output": [TRANSCRIPT, CALL], "usage": USAGE},
        },
    )

    assert (answer.text, answer.complete, answer.finish) == ("Done.", True, "tool_calls")
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [("click", '{"id": 4}')]
    assert answer.usage is not None
    assert (answer.usage.input_total, answer.usage.output_total) == (20, 9)
    assert answer.usage.cache_read == 5


def test_an_answer_that_the_server_begins_is_a_call() -> None:
    dialect = realtime()
    created = b'{"type": "response.created"}'

    first = dialect.begun_by_server(created)
    again = dialect.begun_by_server(created)

    assert first is not None
    assert first.request is not None
    assert again is None  # It is open.
    answered(dialect, first.request, {"type": "response.done", "response": {"status": "completed"}})
    second = dialect.begun_by_server(created)
    assert second is not None
    assert second.request is not None
    assert second.request.continues == "session"
    assert second.request.body_digest != first.request.body_digest


@pytest.mark.parametrize(
    ("status", "finish"), [("failed", "error"), ("cancelled", "stop"), ("incomplete", "stop")]
)
def test_an_answer_that_does_not_come_to_its_end_says_so(status: str, finish: str) -> None:
    dialect = realtime()
    request = asked(dialect, {"type": "response.create"})
    details: Any = (
        {"error": {"message": "Overloaded."}} if status == "failed" else {"reason": "turn"}
    )

    response: Any = {"status": status, "output": [], "status_details": details}
    answer = answered(dialect, request, {"type": "response.done", "response": response})

    assert answer.finish == finish
    assert answer.error == ("Overloaded." if status == "failed" else None)


def test_an_answer_of_live_is_read_with_its_tokens() -> None:
    dialect = GeminiLive()
    request = asked(
        dialect,
        {"setup": {"model": "models/gemini-live", "systemInstruction": {"parts": []}}},
        {"client_content": {"turns": [{"role": "user", "parts": [{"text": "hi"}]}]}},
        {"client_content": {"turns": [], "turn_complete": True}},
    )

    answer = answered(
        dialect,
        request,
        {"setupComplete": {}},
        {"serverContent": {"modelTurn": {"parts": [{"inlineData": {"data": "UklG"}}]}}},
        {"serverContent": {"outputTranscription": {"text": "Do"}}},
        {"serverContent": {"modelTurn": {"parts": [{"text": "ne."}]}}},
        {
            "serverContent": {"turnComplete": True},
            "usageMetadata": {"promptTokenCount": 12, "responseTokenCount": 3},
        },
    )

    assert (request.api, request.model) == ("gemini", "gemini-live")
    assert (answer.text, answer.finish, answer.complete) == ("Done.", "stop", True)
    assert answer.usage is not None
    assert (answer.usage.input_total, answer.usage.output_total) == (12, 3)


def test_a_tool_call_of_live_ends_an_answer_and_its_result_begins_one() -> None:
    dialect = GeminiLive()
    request = asked(dialect, {"clientContent": {"turns": [], "turnComplete": True}})
    call = {"id": "f1", "name": "click", "args": {"id": 4}}

    answer = answered(dialect, request, {"toolCall": {"functionCalls": [call]}})
    result = {"id": "f1", "name": "click", "response": {"ok": True}}
    again = asked(dialect, {"toolResponse": {"functionResponses": [result]}})

    assert [(it.name, it.arguments) for it in answer.tool_calls] == [("click", '{"id": 4}')]
    assert again.messages == [{"role": "user", "parts": [{"functionResponse": result}]}]


def test_what_is_said_live_makes_the_server_begin() -> None:
    dialect = GeminiLive()
    assert dialect.client(b'{"realtimeInput": {"text": "hi"}}') is None
    assert dialect.begun_by_server(b'{"setupComplete": {}}') is None

    begun = dialect.begun_by_server(b'{"serverContent": {"modelTurn": {"parts": []}}}')

    assert begun is not None
    assert begun.request is not None
    assert begun.request.messages == [{"role": "user", "parts": [{"text": "hi"}]}]


@given(st.binary())
def test_no_message_makes_reading_fail(message: bytes) -> None:
    for dialect in (OpenAiRealtime(), GeminiLive(), ResponsesDialect("/v1/responses")):
        dialect.client(message)
        dialect.begun_by_server(message)
        dialect.server(message)


@given(
    st.dictionaries(
        st.sampled_from(
            ["type", "session", "item", "response", "setup", "clientContent", "toolCall", "error"]
        ),
        st.recursive(
            st.one_of(st.none(), st.integers(), st.text(max_size=8)),
            lambda inner: (
                st.lists(inner, max_size=2)
                | st.dictionaries(
                    st.sampled_from(["model", "tools", "status", "output", "turns", "content"]),
                    inner,
                )
            ),
            max_leaves=6,
        ),
    )
)
def test_no_object_makes_reading_fail(message: dict[str, Any]) -> None:
    for kind in ("response.create", "response.done", "session.update", "response.output_item.done"):
        sent = json.dumps({"type": kind} | message).encode()
        for dialect in (OpenAiRealtime(), GeminiLive()):
            dialect.client(sent)
            dialect.begun_by_server(sent)
            dialect.server(sent)


def test_sound_and_pictures_are_only_described() -> None:
    content = [{"type": "input_audio", "audio": "a" * 2000}, {"type": "input_text", "text": "hi"}]
    session, live = OpenAiRealtime("m"), GeminiLive()
    item = {"type": "conversation.item.create", "item": {"content": content}}
    session.client(json.dumps(item).encode())
    asked = session.client(b'{"type": "response.create"}')
    parts = [{"inlineData": {"mimeType": "audio/pcm", "data": "a" * 200}}, {"data": "a" * 200}]
    turns = {"turns": [{"parts": parts}], "turnComplete": True}
    turn = live.client(json.dumps({"clientContent": turns}).encode())

    assert asked is not None
    assert asked.request is not None
    assert turn is not None
    assert turn.request is not None
    assert asked.request.messages == [
        {"content": [{"type": "input_audio", "audio": "<2,000 characters>"}, content[1]]}
    ]
    described = {"inlineData": {"mimeType": "audio/pcm", "data": "<200 characters>"}}
    assert turn.request.messages == [{"parts": [described, parts[1]]}]
