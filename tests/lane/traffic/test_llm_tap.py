"""An LLM call, read once it is over."""

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from tests.llm.families.vectors import vectors
from tests.llm.malformed_calls import malformed, malformed_answer
from warex.clock import Clock
from warex.lane.traffic import llm_tap
from warex.lane.traffic.coded_stream import CodedStream
from warex.lane.traffic.llm_tap import LlmTap, ReadCall, read_call
from warex.llm import LLM_APIS, LlmApi, Usage, recognise, streamed_answer
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import Image
from warex.llm.families import family_named
from warex.traces import LlmCall, TraceWriter, read_trace
from warex.traces.redaction import structured
from warex.traces.redaction.text import Pass

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


def read(call: LlmTap, body: bytes = b"", **options: object) -> ReadCall:
    if body:
        call.add(body, 10.5)
    known = {
        "status": 200,
        "content_type": "application/json",
        "content_encoding": "",
        "error": None,
        "now": 12.0,
        "vocabulary": VOCABULARY,
        "blobs": None,
    }
    return read_call(call, "x1", **{**known, **options})  # type: ignore[arg-type]


def text_chunk(text: str, **more: JsonValue) -> bytes:
    choice = {"index": 0, "message": {"content": text}, "finish_reason": "stop"}
    return json.dumps({"model": "m-1", "choices": [choice], **more}).encode()


def test_a_call_is_one_event() -> None:
    event = read(
        tap(), text_chunk("click('3')", usage={"prompt_tokens": 9, "completion_tokens": 2})
    ).event
    assert (event.model, event.answer, event.step, event.complete) == ("m-1", "click('3')", 3, True)
    assert (event.input_tokens, event.output_tokens, event.usage) == (9, 2, "reported")
    assert (event.began, event.first_token_s, event.latency_s) == (10.0, 0.5, 2.0)
    assert (event.model_asked, event.top_p, event.temperature) == ("m", 0.5, None)


def chunk(delta: JsonValue, finish: str | None = None) -> bytes:
    choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


@pytest.mark.parametrize("encoding", ["", "gzip"])
@pytest.mark.parametrize("silent", [0, 1, 2, 3, 6, 40])
@pytest.mark.parametrize(
    "says", [{"content": "click"}, {"reasoning": "So."}, {"refusal": "No."}, {"tool_calls": [{}]}]
)
def test_the_first_token_of_a_stream_is_where_it_first_says_something(
    says: JsonValue, silent: int, encoding: str
) -> None:
    call = tap(stream=True)
    packer = zlib.compressobj(wbits=31)
    pieces = [*[chunk({"role": "assistant", "content": ""})] * silent, chunk(says)]
    pieces += [chunk({"content": "('3')"}), chunk({}, "stop")]
    for second, piece in enumerate(pieces):
        packed = packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
        call.add(packed if encoding else piece, 20.0 + second)

    event = read(call, content_encoding=encoding, now=60.0 + silent).event

    assert event.first_token_s == 10.0 + silent
    assert event.complete
    assert event.tokens_per_s == pytest.approx((event.output_tokens or 0) / 40)


def test_stream_events_after_the_first_token_are_read_in_batches() -> None:
    call = tap(stream=True)
    call.begun = streamed_answer(call.request)
    reads = set()
    for _ in range(400):
        call.add(chunk({"content": "word "}), 20.0)
        reads.add(call.begun.events.taken)

    assert 3 < len(reads) < 20
    assert read(call, chunk({}, "stop")).event.answer == "word " * 400


def test_a_stream_that_says_nothing_has_no_first_token() -> None:
    call = tap(stream=True)
    call.add(chunk({"role": "assistant", "content": ""}), 20.0)

    event = read(call, error="the client left").event

    assert (event.first_token_s, event.tokens_per_s) == (None, None)


def test_redaction_of_an_answer_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others wait meanwhile."""
    sizes: list[int] = []

    def noting(text: bytes, how: Pass) -> bytes:
        sizes.append(len(text))
        return text

    monkeypatch.setattr(structured, "redact_bytes", noting)
    call = tap({"role": "user", "content": "say " * 800_000}, stream=True)
    for piece in (chunk({"content": "word " * 10_000}) for _ in range(60)):
        call.add(piece, 20.0)
    call.add(chunk({"tool_calls": [{"function": {"arguments": "a " * 400_000}}]}, "stop"), 20.0)
    with TraceWriter(tmp_path / "events.jsonl", Clock()) as writer:
        writer.write(read(call).event)

    (event,) = (entry.event for entry in read_trace(tmp_path / "events.jsonl").entries)
    assert isinstance(event, LlmCall)
    assert sum(sizes) < 3.1 * 2**20
    assert 2**20 - 10 < len(event.answer) <= 2**20
    assert event.error == "it has more than 1,048,576 characters, of which the first are read"
    assert event.finish == "error"
    assert not event.complete
    assert event.shortened
    assert "… (1,102,864 more characters)" in event.messages[0]["content"]


def test_only_the_first_values_of_a_huge_call_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others wait meanwhile."""
    walked: list[object] = []

    def noting(family: object, part: Mapping[str, JsonValue]) -> tuple[Image, ...]:
        walked.append(part)
        return ()

    monkeypatch.setattr(type(family_named("openai_chat")), "images", noting)
    parts: list[JsonValue] = [{"type": "text", "text": str(number)} for number in range(20_000)]

    event = read(tap({"role": "user", "content": parts}), text_chunk("yes")).event

    assert 0 < len(walked) <= 20_000
    assert 0 < len(event.messages[0]["content"]) <= 10_000
    assert event.shortened


def test_half_a_secret_where_a_long_answer_is_cut_is_left_out() -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    answer = read(tap(), text_chunk("x" * (2**20 - 20) + f" {token} " + "y" * 9)).event.answer

    assert answer == "x" * (2**20 - 20) + " "


def test_what_the_api_keeps_and_what_it_ran_itself_are_recorded() -> None:
    body = {"model": "m", "input": "now?", "previous_response_id": "resp_0"}
    request = recognise("POST", "/v1/responses", "", json.dumps(body).encode())
    assert request is not None
    results: JsonValue = {"type": "web_search_call", "id": "ws_1", "action": {"query": "milk"}}
    click: JsonValue = {"type": "function_call", "call_id": "c1", "name": "click", "arguments": ""}
    answer = json.dumps({"status": "completed", "output": [results, click]}).encode()

    call = read(LlmTap(request, "https://llm.example/v1/responses", step=1, began=10.0), answer)

    assert call.event.continues == "resp_0"
    assert call.event.tool_calls == [
        {"id": "ws_1", "name": "web_search", "arguments": '{"query": "milk"}', "by_server": True},
        {"id": "c1", "name": "click", "arguments": "{}"},
    ]
    assert [action.name for action in call.actions] == ["click"]


def called(arguments: str) -> JsonValue:
    return [{"id": "t1", "type": "function", "function": {"name": "fill", "arguments": arguments}}]


@pytest.mark.parametrize(
    ("arguments", "retained"),
    [
        ('{"password": "hush", "user": "é"}', '{"password": "[redacted]", "user": "é"}'),
        ('{"fields":[{"token":"hush"}]}', '{"fields": [{"token": "[redacted]"}]}'),
        ('{"user":"me"}', '{"user":"me"}'),
        ('{"user": "cut of', '{"user": "cut of'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_tool_arguments_are_redacted_in_answers_and_later_prompts(
    tmp_path: Path, arguments: str, retained: str
) -> None:
    message: dict[str, JsonValue] = {
        "role": "assistant",
        "content": None,
        "tool_calls": called(arguments),
    }
    body: JsonValue = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}

    with TraceWriter(tmp_path / "events.jsonl", Clock()) as writer:
        writer.write(read(tap(message), json.dumps(body).encode()).event)

    (event,) = (entry.event for entry in read_trace(tmp_path / "events.jsonl").entries)
    assert isinstance(event, LlmCall)
    assert event.tool_calls == [{"id": "t1", "name": "fill", "arguments": retained}]
    assert event.messages == [{**message, "tool_calls": called(retained)}]


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
    call = read(tap(), text_chunk(text))
    assert [(action.name, action.role, action.step) for action in call.actions] == [(name, role, 3)]
    assert call.ends_task is final


def test_without_a_vocabulary_no_action_is_read() -> None:
    call = read(tap(), text_chunk("stop('done')"), vocabulary=None)
    assert (call.actions, call.ends_task) == ((), False)


def test_a_compressed_answer_is_read() -> None:
    event = read(tap(), gzip.compress(text_chunk("hello")), content_encoding="gzip").event
    assert event.answer == "hello"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"status": None, "error": "the site has gone"}, "the site has gone"),
        ({"status": None}, "no answer came"),
        ({"status": 401, "body": b'{"error": {"message": "no key"}}'}, "HTTP 401: no key"),
        ({"body": b"<html>rubbish"}, "not JSON"),
        (
            {"body": gzip.compress(text_chunk("hello"))[:12], "content_encoding": "gzip"},
            "gzip is broken",
        ),
        ({"body": b"\xff\xfe", "content_encoding": "no-such"}, "'no-such', which is not read"),
    ],
)
def test_what_is_not_an_answer_is_an_error_and_never_the_end(
    fields: dict[str, object], complaint: str
) -> None:
    body = fields.pop("body", b"")
    assert isinstance(body, bytes)
    call = read(tap(), body, **fields)
    assert complaint in (call.event.error or "")
    assert not call.event.complete
    assert not call.ends_task
    assert call.actions == ()


def test_an_answer_in_an_unknown_coding_has_cost_its_question_at_least() -> None:
    unread = read(tap(), b"\xff\xfe", content_encoding="no-such").event
    assert unread.usage == "partial"
    assert (unread.input_tokens or 0) > 0
    assert unread.output_tokens == 0

    refused = read(tap(), b"\xff\xfe", content_encoding="no-such", status=429).event
    made = read(tap(), b"\xff\xfe", content_encoding="no-such", by_model=False).event
    assert [(it.usage, it.input_tokens) for it in (refused, made)] == [("none", None)] * 2


def test_a_stream_that_is_cut_says_why_and_keeps_what_came() -> None:
    begun = b'data: {"choices": [{"index": 0, "delta": {"content": "stop(\'x\')"}}]}\n\n'
    call = read(
        tap(stream=True), begun, content_type="text/event-stream", error="Client disconnected."
    )
    assert (call.event.answer, call.event.complete) == ("stop('x')", False)
    assert call.event.error == "Client disconnected."
    assert not call.ends_task


def test_every_reported_kind_of_token_is_in_the_event() -> None:
    usage: JsonValue = {
        "prompt_tokens": 1200,
        "completion_tokens": 90,
        "prompt_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 500},
        "completion_tokens_details": {"reasoning_tokens": 64},
    }
    event = read(tap(), text_chunk("Hello.", usage=usage)).event

    assert event.tokens == Usage(1200, 90, cache_read=300, cache_write=500, reasoning=64)


# ---- whatever is asked and answered


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("traces")


@pytest.mark.parametrize("family", LLM_APIS, ids=lambda family: family.name)
@given(data=st.data())
@settings(max_examples=20)
def test_any_call_is_one_event_that_reads_back(
    folder: Path, family: LlmApi, data: st.DataObject
) -> None:
    vector = data.draw(st.sampled_from(vectors(family.name)))
    sent = data.draw(st.sampled_from([vector.sent, malformed(vector.request, data)]))
    request = recognise("POST", vector.path, "", sent) or vector.recognised()
    call = LlmTap(request, "https://llm.example", step=3, began=10.0)
    call.add(malformed_answer(vector, data), 10.5)

    done = read(call, status=vector.status, content_type=vector.content_type)

    trace = folder / "events.jsonl"
    trace.unlink(missing_ok=True)
    with TraceWriter(trace, Clock()) as writer:
        writer.write(done.event)
        for action in done.actions:
            writer.write(action)
    (retained, *actions) = (entry.event for entry in read_trace(trace).entries)
    assert isinstance(retained, LlmCall)
    assert len(actions) == len(done.actions)
    # Texts are redacted when they are written.
    assert (retained.complete, bool(retained.error)) == (
        done.event.complete,
        bool(done.event.error),
    )
    assert retained.complete or retained.error or retained.finish == "cut"


def test_a_stream_that_never_ends_is_kept_no_further_than_can_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(llm_tap, "MAX_BODY", 1000)
    choice = {"index": 0, "delta": {"content": "click('3')"}}
    event = f"data: {json.dumps({'choices': [choice]})}\n\n".encode()
    call = tap(stream=True)

    for _ in range(100):
        call.add(event, 10.5)

    assert len(call.body) == 1000
    done = read(call, content_type="text/event-stream")
    assert (done.event.complete, done.event.finish, done.actions) == (False, "error", ())
    assert done.event.error == "more than 1,000 bytes came, of which the first are read"
    assert done.event.answer.startswith("click('3')click")
    assert done.event.usage == "partial"


def test_an_answer_as_long_as_can_be_read_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    body = text_chunk("click('3')")
    monkeypatch.setattr(llm_tap, "MAX_BODY", len(body))

    assert read(tap(), body).event.complete
    assert not read(tap(), body + b" ").event.complete


@pytest.mark.parametrize("tokens", [-1, 10**30, 1.5, "9"])
def test_tokens_that_can_be_none_are_estimated_and_that_is_reported(tokens: JsonValue) -> None:
    usage: JsonValue = {"prompt_tokens": 9, "completion_tokens": tokens}

    event = read(tap(), text_chunk("click('3')", usage=usage)).event

    assert (event.complete, event.error, event.finish) == (True, None, "stop")
    assert (event.usage, event.output_tokens) == ("estimated", 3)
    assert event.usage_error == "its API reports a value that cannot be a number of tokens"


def test_an_encoded_stream_is_read_a_part_at_a_time() -> None:
    """Its parts are of 64 KiB, so that others do not wait at its end."""
    call = tap(stream=True)
    call.begun, call.coded = streamed_answer(call.request), CodedStream("gzip")
    events = [chunk({"content": f"{number:05} "}) for number in range(5000)]
    body = b"".join((*events, chunk({}, "stop"), b"data: [DONE]\n\n"))
    call.add(gzip.compress(body), 20.0)
    assert len(call.coded.body) == 65536
    assert call.first_token == 20.0
    parts = 1
    while call.read_on(21.0):
        parts += 1
    assert parts == -(-len(body) // 65536)
    assert call.coded.body == body
    assert call.begun.events.done

    event = read(call, content_encoding="gzip", now=60.0).event

    assert event.complete
    assert event.answer == "".join(f"{number:05} " for number in range(5000))
    assert event.first_token_s == 10.0


@pytest.mark.parametrize("reads_on", [True, False])
def test_what_is_left_of_an_encoded_stream_is_read_at_its_end(reads_on: bool) -> None:
    """As where the client leaves, or in the further members of gzip."""
    call = tap(stream=True)
    call.begun, call.coded = streamed_answer(call.request), CodedStream("gzip")
    members = [[chunk({"content": "a"})], [chunk({"content": "b"}), chunk({}, "stop")]]
    packed = b"".join(gzip.compress(b"".join(it)) for it in members)
    call.add(packed, 20.0)
    while reads_on and call.read_on(20.0):
        pass

    event = read(call, content_encoding="gzip", now=60.0).event

    assert (event.answer, event.complete) == ("ab", True)
