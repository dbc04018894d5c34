"""What holds of each API that WAREX reads, whichever it is."""

import json
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from tests.cases import every
from tests.llm.detached_images import detached
from tests.llm.families.vectors import Vector, vectors
from tests.llm.malformed_calls import malformed, malformed_answer
from warex.llm import (
    LLM_APIS,
    LlmAnswer,
    LlmApi,
    ToolCall,
    Usage,
    read_answer,
    recognise,
    retry_after,
    streamed_answer,
    tool_names,
    with_system_text,
)
from warex.llm.base import ApiErrorKind, SerializedAnswer
from warex.llm.body.framing import split_frames
from warex.llm.families.reading import AnswerBuilder

VECTORS = [
    vector for family in LLM_APIS if family.name != "openai_chat" for vector in vectors(family.name)
]
COMPLETE = [vector for vector in VECTORS if vector.says.get("complete", True)]

each_vector = every("vector", VECTORS)
each_family = every("family", LLM_APIS)


def prompts_of(vector: Vector) -> tuple[str, ...]:
    return next(family.prompts for family in LLM_APIS if family.name == vector.family)


@each_family
def test_at_least_twenty_calls_of_it_are_read(family: LlmApi) -> None:
    assert len(vectors(family.name)) >= 20


@each_vector
def test_a_request_is_read(vector: Vector) -> None:
    request = vector.recognised()

    read = asdict(request) | {"sampling": asdict(request.sampling)}
    assert request.api == vector.family
    assert any(key in vector.request for key in prompts_of(vector))
    assert {key: read[key] for key in vector.asked} == vector.asked


@each_vector
def test_an_answer_is_read(vector: Vector) -> None:
    request = vector.recognised()

    answer = read_answer(request, vector.status, vector.content_type, vector.body)

    assert answer == vector.expected()


ALL = [vector for family in LLM_APIS for vector in vectors(family.name)]


@settings(deadline=None)
@given(
    st.sampled_from([it for it in ALL if 200 <= it.status < 300]),
    st.integers(1, 90),
    st.integers(0, 60),
)
def test_an_answer_that_is_read_as_it_comes_is_the_same(
    vector: Vector, size: int, missing: int
) -> None:
    request = vector.recognised()
    body = vector.body[: max(0, len(vector.body) - missing)]
    begun, came = streamed_answer(request), bytearray()

    for at in range(0, len(body), size):
        came += body[at : at + size]
        begun.read(came)
    answer = read_answer(request, vector.status, vector.content_type, body, begun)

    assert answer == read_answer(request, vector.status, vector.content_type, body)


@every("vector", COMPLETE)
def test_an_answer_that_lacks_its_end_is_not_complete(vector: Vector) -> None:
    request = vector.recognised()
    half = vector.body[: len(vector.body) // 2]

    answer = read_answer(request, vector.status, vector.content_type, half)

    assert not answer.complete
    assert answer.finish in ("cut", "error")


@every("family", [it for it in LLM_APIS if it.text_path])
@every("wrong", [7, True, 1.5])
def test_an_answer_whose_content_has_a_wrong_type_is_not_complete(
    family: LlmApi, wrong: float
) -> None:
    first = family.text_path[0]
    requests = (vector.recognised() for vector in vectors(family.name))
    message = LlmAnswer("m", text="hi", usage=Usage(1, 1), finish="stop", complete=True)
    request, body = next(
        (request, body)
        for request in requests
        if not request.stream
        for body in [json.loads(family.write_answer(request, message).body)]
        if first in body
    )
    *path, last = family.text_path
    holder = body
    for key in path:
        holder = holder[key]

    assert read_answer(request, 200, "application/json", json.dumps(body).encode()).complete
    holder[last] = wrong
    answer = read_answer(request, 200, "application/json", json.dumps(body).encode())

    assert (answer.complete, answer.finish) == (False, "error")
    assert (answer.error or "").startswith(f"the answer is not {family.answer_description}: ")


@every("family", [it for it in LLM_APIS if it.text_path])
def test_a_stream_with_a_number_for_text_is_not_read(family: LlmApi) -> None:
    message = LlmAnswer("m", text="hi there", usage=Usage(1, 1), finish="stop", complete=True)
    requests = (vector.recognised() for vector in vectors(family.name))
    written = (family.write_answer(request, message) for request in requests if request.stream)
    answer = next(it for it in written if len(frames_of(it)) > 1)

    sound, broken = AnswerBuilder(), AnswerBuilder()
    for frame in frames_of(answer):
        family.read(sound, frame, complete=False)
        family.read(broken, numbered(frame, "hi there"), complete=False)

    assert (sound.is_malformed, str(sound.text)) == (False, "hi there")
    assert broken.is_malformed


def test_such_a_stream_is_not_complete_and_says_why() -> None:
    request = next(it.recognised() for it in vectors("openai_chat") if it.recognised().stream)
    stream = b'data: {"choices": [{"delta": {"content": 7}, "finish_reason": "stop"}]}\n\n'

    answer = read_answer(request, 200, "text/event-stream", stream + b"data: [DONE]\n\n")

    assert (answer.complete, answer.finish) == (False, "error")
    assert (answer.error or "").startswith("the answer is not a chat completion: data: {")


def frames_of(answer: SerializedAnswer) -> list[dict[str, Any]]:
    arrived = split_frames(answer.body, answer.headers["content-type"])
    return [frame for frame in arrived.items if isinstance(frame, dict)]


def numbered(value: Any, words: str) -> Any:
    """Return JSON with a number in place of each piece of these words."""
    if isinstance(value, dict):
        return {key: numbered(it, words) for key, it in value.items()}
    if isinstance(value, list):
        return [numbered(it, words) for it in value]
    return 7 if isinstance(value, str) and value and value in words else value


@each_family
@given(data=st.data(), text=st.text(min_size=1, max_size=40))
@settings(max_examples=40)
def test_a_text_is_added_to_the_system_prompt_and_all_else_stays(
    family: LlmApi, data: st.DataObject, text: str
) -> None:
    vector = data.draw(st.sampled_from(vectors(family.name)))
    request = vector.recognised()

    changed = with_system_text(request, vector.sent, text)

    asked = recognise("POST", vector.path, "application/json", changed)
    assert asked is not None
    assert json.loads(changed) != vector.request
    system = [m for m in asked.messages if isinstance(m, dict) and _is_system(m)]
    assert json.dumps(text)[1:-1] in json.dumps(system)
    others = [m for m in request.messages if isinstance(m, dict) and not _is_system(m)]
    assert [m for m in asked.messages if m not in system] == others
    assert (asked.tools, asked.model) == (request.tools, request.model)


ANSWERS = st.builds(
    LlmAnswer,
    model=st.just("m"),
    text=st.text(min_size=1, max_size=60),
    reasoning=st.text(max_size=20).filter(lambda text: not text or text.strip()),
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            id=st.sampled_from(["a", "b"]),
            name=st.sampled_from(["click", "look"]),
            arguments=st.sampled_from(["{}", '{"ref": "é\\n"}']),
        ),
        max_size=2,
        unique_by=lambda call: call.id,
    ).map(tuple),
    usage=st.just(Usage(2312, 37, cache_read=2000, cache_write=300, reasoning=5)),
    finish=st.just("length"),
)


@each_family
@given(data=st.data(), answer=ANSWERS)
@settings(max_examples=40)
def test_an_answer_that_is_written_reads_the_same(
    family: LlmApi, data: st.DataObject, answer: LlmAnswer
) -> None:
    request = data.draw(st.sampled_from(vectors(family.name))).recognised()
    model = "m" if "model" in family.reports else request.model
    answer = replace(answer, model=model, usage=_reported(answer.usage, family), complete=True)

    written = family.write_answer(request, answer)

    kind = written.headers["content-type"]
    read = read_answer(request, written.status, kind, written.body)
    if request.variant == "without_usage":
        assert read.usage is not None
        assert read.usage.source == "estimated"
        read = replace(read, usage=answer.usage)
    assert replace(read, finish_reason=None) == answer


@each_family
@every("trouble", get_args(ApiErrorKind.__value__))
def test_a_refusal_is_an_error_with_its_words(family: LlmApi, trouble: ApiErrorKind) -> None:
    request = vectors(family.name)[0].recognised()

    refused = family.write_error(request, trouble, 20)

    answer = read_answer(request, refused.status, "", refused.body)
    if refused.status == 200:
        # Gemini blocks a prompt in an answer of its usual form.
        assert (trouble, answer.finish) == ("content_filtered", "content_filter")
        return
    assert refused.status >= 400
    assert answer.finish == "error"
    assert (answer.error or "").startswith(f"HTTP {refused.status}: ")
    assert "{" not in (answer.error or "")


@each_family
@every("trouble", get_args(ApiErrorKind.__value__))
def test_the_wait_in_a_refusal_is_read(family: LlmApi, trouble: ApiErrorKind) -> None:
    for vector in vectors(family.name):
        request = vector.recognised()
        refused = family.write_error(request, trouble, 20)

        wait = retry_after(request, refused.headers, refused.body)

        assert wait == (20 if trouble == "rate_limited" and family.reports_wait else None)


@each_family
@every(
    "headers, wait",
    [
        ({"Retry-After": "3"}, 3),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "\u0663"}, None),
        ({}, None),
    ],
)
def test_a_wait_in_a_header_is_read_where_it_is_one(
    family: LlmApi, headers: dict[str, str], wait: float | None
) -> None:
    assert retry_after(vectors(family.name)[0].recognised(), headers, b"[{]") == wait


@pytest.mark.parametrize("family", LLM_APIS, ids=lambda it: it.name)
@given(data=st.data())
@settings(max_examples=25)
def test_nothing_that_is_asked_raises(family: LlmApi, data: st.DataObject) -> None:
    vector = data.draw(st.sampled_from(vectors(family.name)))

    request = recognise("POST", vector.path, "", malformed(vector.request, data))

    if request is not None:
        detached(request.messages, family.images)
        tool_names(request)


@pytest.mark.parametrize("family", LLM_APIS, ids=lambda it: it.name)
@given(data=st.data(), junk=st.binary(max_size=30))
@settings(max_examples=25)
def test_nothing_that_is_answered_raises(family: LlmApi, data: st.DataObject, junk: bytes) -> None:
    vector = data.draw(st.sampled_from(vectors(family.name)))
    body = malformed_answer(vector, data)

    for kind in ("", vector.content_type, "application/vnd.amazon.eventstream"):
        for end in (b"", junk):
            answer = read_answer(vector.recognised(), vector.status, kind, body + end)
            assert answer.usage is None or answer.usage.is_possible
            assert answer.complete or answer.error or answer.finish == "cut"


@each_family
@every("tokens", [-1, 10**30, 1.5, "many", None, [], {}])
def test_an_invalid_usage_is_not_believed(family: LlmApi, tokens: object) -> None:
    vector = next(v for v in vectors(family.name) if v.says.get("usage", {}).get("output_total"))
    number = str(vector.says["usage"]["output_total"]).encode()
    changed = vector.body.replace(number, json.dumps(tokens).encode())

    answer = read_answer(vector.recognised(), 200, vector.content_type, changed)

    assert answer.usage is not None
    if tokens is None:
        return
    assert (answer.usage.source, answer.usage.output_total) != ("reported", 0)
    assert answer.usage_error is not None or tokens in ([], {})


def _reported(usage: Usage | None, family: LlmApi) -> Usage | None:
    """Return a usage without what the family's API does not tell."""
    if usage is None:
        return None
    read, written, thought = (
        getattr(usage, name) if name in family.reports else 0
        for name in ("cache_read", "cache_write", "reasoning")
    )
    return replace(usage, cache_read=read, cache_write=written, reasoning=thought)


def _is_system(message: Mapping[str, object]) -> bool:
    return message.get("role") in ("system", "developer")
