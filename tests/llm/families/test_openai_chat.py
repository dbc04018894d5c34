import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import JsonValue

from warex.llm import LlmAnswer, LlmRequest, ToolCall, Usage, read_answer, recognise
from warex.llm.base import Sampling
from warex.llm.families.openai_chat import OpenAiChat

EVENT_STREAM = "text/event-stream; charset=utf-8"
ASKED = LlmRequest(
    api="openai_chat",
    model="gpt-4o",
    messages=[{"role": "user", "content": "Say hello, please."}],
    tools=[],
    stream=False,
    body_digest="0" * 64,
)
STREAMED = replace(ASKED, stream=True)


def _complete(message: JsonValue, **more: JsonValue) -> bytes:
    choice: JsonValue = {"index": 0, "message": message, "finish_reason": "stop"}
    answer: dict[str, JsonValue] = {"model": "gpt-4o-2024-08-06", "choices": [choice]}
    return json.dumps(answer | more).encode()


def _chunk(delta: JsonValue, finish: str | None = None, **more: JsonValue) -> str:
    choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"model": "gpt-4o-2024-08-06", "choices": [choice]} | more)


def _sse(*data: str) -> bytes:
    return "".join(f"data: {one}\n\n" for one in data).encode()


def _read(body: bytes, request: LlmRequest = ASKED) -> LlmAnswer:
    content_type = EVENT_STREAM if request.stream else "application/json"
    return read_answer(request, 200, content_type, body)


def _stream(*data: str) -> LlmAnswer:
    return _read(_sse(*data), STREAMED)


USAGE: JsonValue = {
    "prompt_tokens": 1200,
    "completion_tokens": 90,
    "total_tokens": 1290,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 64, "accepted_prediction_tokens": 0},
}


def test_a_whole_answer_is_read() -> None:
    answer = _read(
        _complete({"role": "assistant", "content": "Hello.", "refusal": None}, usage=USAGE)
    )

    assert answer == LlmAnswer(
        model="gpt-4o-2024-08-06",
        text="Hello.",
        finish_reason="stop",
        finish="stop",
        usage=Usage(1200, 90, cache_read=1024, reasoning=64),
        complete=True,
    )


def test_tool_calls_of_a_whole_answer_are_read() -> None:
    answer = _read(
        _complete(
            {
                "content": None,
                "tool_calls": [
                    {"id": "a", "function": {"name": "click", "arguments": '{"bid": "1"}'}},
                    {"id": "b", "function": {"name": "noop", "arguments": {"ms": 1}}},
                ],
            }
        )
    )

    assert answer.text == ""
    assert answer.tool_calls == (
        ToolCall("a", "click", '{"bid": "1"}'),
        ToolCall("b", "noop", '{"ms": 1}'),
    )


def test_a_stream_says_what_the_whole_answer_would() -> None:
    answer = _stream(
        _chunk({"role": "assistant", "content": ""}),
        _chunk({"content": "Hel"}),
        _chunk({"content": "lo."}),
        _chunk({}, "stop"),
        json.dumps({"model": "gpt-4o-2024-08-06", "choices": [], "usage": USAGE}),
        "[DONE]",
    )

    assert answer == _read(_complete({"content": "Hello."}, usage=USAGE))


def test_tool_call_fragments_are_merged_by_index() -> None:
    def call(index: int, **more: JsonValue) -> str:
        return _chunk({"tool_calls": [{"index": index} | more]})

    answer = _stream(
        call(0, id="a", function={"name": "fill", "arguments": ""}),
        call(1, id="b", function={"name": "click", "arguments": '{"bid"'}),
        call(0, function={"arguments": '{"bid": '}),
        call(1, function={"arguments": ": 2}"}),
        call(0, function={"arguments": "1}"}),
        _chunk({}, "tool_calls"),
        "[DONE]",
    )

    assert answer.tool_calls == (
        ToolCall("a", "fill", '{"bid": 1}'),
        ToolCall("b", "click", '{"bid": 2}'),
    )


def test_tool_calls_with_different_ids_differ_despite_one_index() -> None:
    calls: list[JsonValue] = [
        {"index": 0, "id": id, "function": {"name": id, "arguments": "{}"}} for id in "ab"
    ]
    answer = _stream(*(_chunk({"tool_calls": [call]}) for call in calls), "[DONE]")
    assert [call.name for call in answer.tool_calls] == ["a", "b"]


def test_a_custom_tool_is_given_its_text() -> None:
    call: JsonValue = {"id": "c1", "type": "custom", "custom": {"name": "run", "input": "reload()"}}

    assert _read(_complete({"tool_calls": [call]})).tool_calls == (
        ToolCall("c1", "run", "reload()"),
    )


def test_a_legacy_function_call_is_a_tool_call() -> None:
    full = _read(_complete({"content": None, "function_call": {"name": "f", "arguments": "{}"}}))
    stream = _stream(
        _chunk({"function_call": {"name": "f", "arguments": "{"}}),
        _chunk({"function_call": {"arguments": "}"}}),
        _chunk({}, "function_call"),
    )
    assert full.tool_calls == stream.tool_calls == (ToolCall("", "f", "{}"),)


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_apart_from_the_text(key: str) -> None:
    answer = _stream(_chunk({key: "hm, "}), _chunk({key: "ok"}), _chunk({"content": "Hi"}, "stop"))
    assert (answer.reasoning, answer.text) == ("hm, ok", "Hi")


def test_content_may_be_parts_and_a_refusal_is_the_answer() -> None:
    parts: JsonValue = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 3]
    assert _read(_complete({"content": parts})).text == "ab"
    assert _read(_complete({"content": None, "refusal": "I cannot."})).text == "I cannot."


def test_a_running_usage_is_never_summed() -> None:
    def usage(tokens: int) -> JsonValue:
        return {"prompt_tokens": 10, "completion_tokens": tokens, "total_tokens": 10 + tokens}

    chunks = [_chunk({"content": "x"}, usage=usage(n)) for n in (1, 2, 3)]
    assert _stream(*chunks, _chunk({}, "stop", usage=usage(3)), "[DONE]").usage == Usage(10, 3)
    assert _stream(*chunks[:2]).usage == Usage(10, 2, source="partial")


def test_comments_and_azures_chunks_without_choices_say_nothing() -> None:
    azure = json.dumps({"choices": [], "prompt_filter_results": [{"prompt_index": 0}]})
    body = b": OPENROUTER PROCESSING\n\n" + _sse(azure, _chunk({"content": "Hi"}, "stop"), "[DONE]")
    answer = _read(body, STREAMED)
    assert (answer.text, answer.complete, answer.error) == ("Hi", True, None)


def test_missing_usage_is_estimated_and_says_so() -> None:
    usage = _stream(_chunk({"content": "Hello there."}, "stop"), "[DONE]").usage
    assert usage is not None
    assert usage.source == "estimated"
    assert usage.input_total == 4 + 1 + 5
    assert usage.output_total == 3


def test_only_the_first_choice_is_read() -> None:
    choices: JsonValue = [
        {"index": 1, "message": {"content": "second"}, "finish_reason": "length"},
        {"index": 0, "message": {"content": "first"}, "finish_reason": "stop"},
    ]
    answer = _read(json.dumps({"choices": choices}).encode())
    assert (answer.text, answer.finish_reason, answer.model) == ("first", "stop", "gpt-4o")


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (
            401,
            b'{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}',
            "HTTP 401: Incorrect API key provided",
        ),
        (429, b'{"error": {"message": "Rate limit reached"}}', "HTTP 429: Rate limit reached"),
        (400, b'{"object": "error", "message": "too long"}', "HTTP 400: too long"),
        (404, b'{"detail": "Not Found"}', "HTTP 404: Not Found"),
        (500, b"<h1>Internal\n Server Error</h1>", "HTTP 500: <h1>Internal Server Error</h1>"),
        (502, b"", "HTTP 502: empty body"),
        (200, b"", "the answer is empty"),
        (200, b'{"error": "no such model"}', "no such model"),
        (200, b"<html>Sign in</html>", "the answer is not JSON: <html>Sign in</html>"),
        (200, b'{"model": "gpt-4o", "ch', "the answer ended before the model had said anything"),
        (200, b'{"ok": true}', 'the answer is not a chat completion: {"ok": true}'),
    ],
)
def test_an_error_answer_is_a_sentence_without_usage(status: int, body: bytes, error: str) -> None:
    answer = read_answer(ASKED, status, "application/json", body)
    assert answer == LlmAnswer("gpt-4o", error=error)


def test_a_streams_request_may_be_answered_with_a_json_error() -> None:
    answer = _read(b'{"error": {"message": "overloaded"}}', STREAMED)
    assert (answer.error, answer.complete) == ("overloaded", False)


def test_an_error_within_a_stream_leaves_the_answer_incomplete() -> None:
    answer = _stream(
        _chunk({"content": "Hel"}), '{"error": {"message": "upstream died"}}', "[DONE]"
    )
    assert (answer.text, answer.error, answer.complete) == ("Hel", "upstream died", False)
    assert answer.usage is not None
    assert answer.usage.source == "partial"


def test_a_stream_of_nothing_is_not_an_answer() -> None:
    answer = _stream("[DONE]")
    assert answer.error == "the answer ended before the model had said anything"
    assert not answer.complete


def test_a_cut_whole_answer_keeps_what_arrived() -> None:
    answer = _read(_complete({"content": "Hello there."})[:-34])
    assert answer.text == "Hello th"
    assert not answer.complete
    assert answer.usage is not None
    assert answer.usage.source == "partial"


def test_azures_deployment_is_the_model_if_the_body_has_none() -> None:
    path = "/openai/deployments/my-gpt/chat/completions?api-version=1"
    request = recognise("POST", path, "application/json", b'{"messages": [{"role": "user"}]}')
    assert request is not None
    assert request.model == "my-gpt"


def test_a_request_is_read_as_sent() -> None:
    sent: dict[str, JsonValue] = {
        "model": "m",
        "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "click"}}],
        "stream": True,
    }
    request = OpenAiChat().read_request("/v1/chat/completions", sent, "d")
    assert request == LlmRequest(
        "openai_chat", "m", *_parts(sent), stream=True, body_digest="d", variant="without_usage"
    )


def test_how_words_are_chosen_is_read_where_the_request_says_so() -> None:
    def sampling(**sent: JsonValue) -> Sampling:
        body = {"model": "m", "messages": [], **sent}
        return OpenAiChat().read_request("/v1/chat/completions", body, "d").sampling

    assert sampling(temperature=0, top_p=0.9, seed=7) == Sampling(0, 0.9, 7)
    assert sampling() == sampling(temperature="hot", top_p=None, seed=True) == Sampling()


def _parts(sent: dict[str, JsonValue]) -> tuple[list[JsonValue], list[JsonValue]]:
    messages, tools = sent["messages"], sent["tools"]
    assert isinstance(messages, list)
    assert isinstance(tools, list)
    return messages, tools


LONG = _sse(
    _chunk({"role": "assistant", "content": ""}),
    _chunk({"reasoning": "Überlegung"}),
    _chunk({"content": "Grüße "}),
    _chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]}),
    _chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
    _chunk({}, "tool_calls"),
    json.dumps({"choices": [], "usage": USAGE}),
    "[DONE]",
)
FINISH_SEEN = LONG.index(b'"tool_calls"}]}') + len(b'"tool_calls"}]}')


@given(st.integers(0, len(LONG)))
def test_a_cut_stream_is_never_complete_before_its_end_was_said(length: int) -> None:
    answer = _read(LONG[:length], STREAMED)

    assert answer.complete == (length >= FINISH_SEEN)
    if not answer.complete:
        assert answer.usage is None or answer.usage.source == "partial"
    assert "Grüße ".startswith(answer.text)


@given(st.integers(0, len(_complete({"content": "Grüße"}, usage=USAGE)) - 1))
def test_a_cut_whole_answer_is_never_complete(length: int) -> None:
    assert not _read(_complete({"content": "Grüße"}, usage=USAGE)[:length]).complete


@given(st.sampled_from(["\n", "\r\n", "\r"]))
def test_line_endings_make_no_difference(end: str) -> None:
    assert _read(LONG.replace(b"\n", end.encode()), STREAMED) == _read(LONG, STREAMED)


@given(st.integers(100, 599), st.sampled_from(["", EVENT_STREAM, "text/html"]), st.binary())
def test_no_bytes_make_reading_fail(status: int, content_type: str, body: bytes) -> None:
    for request in (ASKED, STREAMED):
        assert not read_answer(request, status, content_type, body).complete
        assert not read_answer(request, 200, content_type, b"data: " + body).complete


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def _shaped(**keys: st.SearchStrategy[JsonValue]) -> st.SearchStrategy[JsonValue]:
    shaped: st.SearchStrategy[JsonValue] = st.fixed_dictionaries({}, optional=keys)
    return shaped | _json


_call = _shaped(index=_json, id=_json, function=_shaped(name=_json, arguments=_json))
_calls: st.SearchStrategy[JsonValue] = st.lists(_call, max_size=2)
_message = _shaped(content=_json, refusal=_json, tool_calls=_calls, function_call=_call)
_choice = _shaped(index=_json, message=_message, delta=_message, finish_reason=_json)
_choices: st.SearchStrategy[JsonValue] = st.lists(_choice, max_size=2)
_details = _shaped(cached_tokens=_json, reasoning_tokens=_json)
_usage = _shaped(prompt_tokens=_json, prompt_tokens_details=_details)


@given(_shaped(model=_json, choices=_choices | _json, usage=_usage, error=_json))
def test_no_json_makes_reading_fail(answer: JsonValue) -> None:
    body = json.dumps(answer).encode()
    _read(body)
    _read(b"data: " + body, STREAMED)


TEXT = 'Reload "pages"\nthat fail. é'


@pytest.mark.parametrize(
    ("messages", "become"),
    [
        (
            '[{"role":"system","content":"Be\\u00e9 \\ud83d"},{"role":"user","content":"go"}]',
            '[{"role":"system","content":"Be\\u00e9 \\ud83d\\n\\nTEXT"},'
            '{"role":"user","content":"go"}]',
        ),
        ('[{"content": "", "role": "developer"}]', '[{"content": "TEXT", "role": "developer"}]'),
        (
            '[{"role":"system","content":[ {"type":"text","text":"a"} ]},{"role":"user"}]',
            '[{"role":"system","content":[ {"type":"text","text":"a"} , '
            '{"type": "text", "text": "\\n\\nTEXT"}]},{"role":"user"}]',
        ),
        (
            '[{"role":"system","content":[]}]',
            '[{"role":"system","content":[{"type": "text", "text": "TEXT"}]}]',
        ),
        ('[{"role":"system","content":null}]', '[{"role":"system","content":"TEXT"}]'),
        (
            '[{"role":"user","content":"go"}]',
            '[{"role": "system", "content": "TEXT"}, {"role":"user","content":"go"}]',
        ),
        (
            '[{"role":"system","content":"a"},{"role":"user"},{"role":"developer","content":"b"}]',
            '[{"role":"system","content":"a"},{"role":"user"},{"role":"developer","content":"b\\n\\nTEXT"}]',
        ),
    ],
    ids=["text", "empty", "parts", "no parts", "null", "none", "last"],
)
def test_a_text_joins_the_system_prompt_and_all_else_stays_byte_for_byte(
    messages: str, become: str
) -> None:
    sent = '{ "temperature":1.10e-2,"model":"m" ,\n"messages":%s,"seed":12345678901234567890}'
    text = json.dumps(TEXT)[1:-1]

    changed = OpenAiChat().append_to_system_prompt((sent % messages).encode(), TEXT)

    assert changed.decode() == sent % become.replace("TEXT", text)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b'{"messages": [{"role": "system"}]}', "neither text nor parts"),
        (b'{"messages": [{"role": "system", "content": 3}]}', "neither text nor parts"),
        (b'{"messages": [{"role": "system", "content": ["a"]}]}', "neither text nor parts"),
        (b'{"model": "m"}', "no messages"),
        (b'{"messages": "hi"}', "no messages"),
        (b"\xff", "utf-8"),
        (b"{", "Expecting"),
    ],
)
def test_a_system_prompt_that_is_not_understood_is_refused(body: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        OpenAiChat().append_to_system_prompt(body, TEXT)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 500}},
        {"prompt_tokens_details": {"cached_tokens": 1, "cache_creation_tokens": 500}},
        {"prompt_tokens_details": {"cached_tokens": 1}, "cache_creation_input_tokens": 500},
    ],
    ids=["openrouter", "litellm", "older-litellm"],
)
def test_what_a_gateway_says_of_writing_to_the_cache_is_read(usage: dict[str, JsonValue]) -> None:
    counts: JsonValue = {"prompt_tokens": 1200, "completion_tokens": 90, **usage}
    answer = _read(_complete({"role": "assistant", "content": "Hello."}, usage=counts))

    assert answer.usage == Usage(1200, 90, cache_read=1, cache_write=500)


def test_a_mistral_agent_is_named_as_the_model() -> None:
    body = {"agent_id": "ag_1", "messages": [{"role": "user", "content": "hi"}]}
    asked = recognise("POST", "/v1/agents/completions", "", json.dumps(body).encode())

    assert asked is not None
    assert (asked.api, asked.model) == ("openai_chat", "ag_1")


@pytest.mark.parametrize("part", ["message", "delta"])
def test_what_mistral_s_models_think_is_kept_apart(part: str) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    content = [thought, {"type": "text", "text": "Done."}]
    choice = {"index": 0, part: {"content": content}, "finish_reason": "stop"}
    full = json.dumps({"choices": [choice]})
    body = full if part == "message" else f"data: {full}\n\ndata: [DONE]\n\n"
    sent = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    asked = recognise("POST", "/v1/chat/completions", "", json.dumps(sent).encode())
    assert asked is not None

    answer = read_answer(asked, 200, "", body.encode())

    assert (answer.text, answer.reasoning) == ("Done.", "Hm.")
