"""Events of streamed answers, in each API's forms."""

from collections.abc import Iterator, Sequence
from typing import get_args

import pytest

from tests.llm.families.vectors import Vector, vectors
from warex.llm import LLM_APIS, LlmAnswer, LlmRequest, Usage, read_answer, write_answer
from warex.llm.base import StreamErrorKind, StreamPoint
from warex.llm.stream import LlmStream, read_stream

TEXT = "one two three four five six seven eight"
BROKEN_OFF = get_args(StreamErrorKind.__value__)


def _streamed() -> Iterator[Vector]:
    """Yield a streamed call of each form of each API."""
    for family in LLM_APIS:
        forms = set()
        for vector in vectors(family.name):
            request = vector.recognised()
            if request.stream and request.variant not in forms:
                forms.add(request.variant)
                yield vector


FORMS = [*_streamed()]
each_form = pytest.mark.parametrize(
    "vector", FORMS, ids=lambda it: f"{it.family}-{it.recognised().variant or 'usual'}"
)


def stream_of(request: LlmRequest, text: str = TEXT) -> LlmStream:
    answer = LlmAnswer(request.model, text, finish="stop", usage=Usage(5, 8), complete=True)
    written = write_answer(request, answer)
    stream = read_stream(request, written.headers["content-type"], written.body)
    assert stream is not None
    assert b"".join(stream.events) == written.body
    return stream


def read(stream: LlmStream, events: Sequence[bytes]) -> LlmAnswer:
    return read_answer(stream.request, 200, stream.content_type, b"".join(events))


def test_every_api_is_here_with_all_forms_of_its_streams() -> None:
    forms = {(it.family, it.recognised().variant) for it in FORMS}

    assert {family for family, _ in forms} == {family.name for family in LLM_APIS}
    assert {form for family, form in forms if family == "gemini"} == {"", "array"}
    assert {form for family, form in forms if family == "bedrock_invoke"} == {
        "anthropic",
        "nova",
        "openai",
    }
    assert {form for family, form in forms if family == "ollama"} == {"", "generate"}


@each_form
def test_the_first_events_of_a_stream_hold_the_first_words(vector: Vector) -> None:
    stream = stream_of(vector.recognised())

    begun = stream.events[: stream.index_of(StreamPoint(tokens=3))]

    answer = read(stream, begun)
    assert TEXT.startswith(answer.text)
    assert 9 <= len(answer.text) <= 14
    assert not answer.complete


@each_form
@pytest.mark.parametrize("point", [StreamPoint(events=10_000), StreamPoint(tokens=10_000)])
def test_never_the_last_event_comes_before_a_point(vector: Vector, point: StreamPoint) -> None:
    stream = stream_of(vector.recognised())

    assert stream.index_of(point) == len(stream.events) - 1
    assert stream.index_of(StreamPoint(events=0)) == 1


@each_form
def test_before_the_finish_all_of_the_text_has_come_and_no_reason(vector: Vector) -> None:
    stream = stream_of(vector.recognised())

    answer = read(stream, stream.events[: stream.index_of(StreamPoint(before="finish"))])

    assert (answer.text, answer.finish, answer.finish_reason) == (TEXT, "cut", None)


@each_form
def test_the_end_marker_is_the_last_event_of_the_answer(vector: Vector) -> None:
    stream = stream_of(vector.recognised())

    marker = stream.index_of(StreamPoint(before="end_marker"))

    assert read(stream, stream.events[:marker]).text == TEXT
    assert stream.index_of(StreamPoint(before="finish")) <= marker
    without = read(stream, stream.events[:marker]).finish_reason is None
    parted = stream.request.variant in ("anthropic", "without_usage") or vector.family in (
        "openai_chat",
        "anthropic_messages",
    )
    assert without != parted


@each_form
def test_one_event_that_is_not_json_leaves_the_others_readable(vector: Vector) -> None:
    stream = stream_of(vector.recognised())

    number = stream.breakable(StreamPoint(events=len(stream.events) // 2))

    assert number is not None
    events = stream.with_broken_event(number).events
    assert len(events) == len(stream.events)
    (changed,) = [new for new, old in zip(events, stream.events, strict=True) if new != old]
    before = LlmStream(stream.request, stream.content_type, [changed])
    assert before._frames[0] in ([], [{}])
    # Of a broken array nothing behind can be read; the end of a response repeats all of it.
    if stream.request.variant != "array" and vector.family != "openai_responses":
        answer = read(stream, events)
        assert answer.text != TEXT
        assert len(answer.text) > len(TEXT) * 3 // 4


@each_form
@pytest.mark.parametrize("kind", BROKEN_OFF)
def test_a_stream_is_broken_off_by_its_apis_own_error(
    vector: Vector, kind: StreamErrorKind
) -> None:
    stream = stream_of(vector.recognised())

    events = stream.broken_off(StreamPoint(tokens=3), kind)

    answer = read(stream, events)
    assert (answer.finish, answer.complete) == ("error", False)
    assert answer.error
    assert TEXT.startswith(answer.text)
    assert answer.text


def test_an_answer_that_is_not_a_stream_has_no_events() -> None:
    for family in LLM_APIS:
        for vector in vectors(family.name):
            request = vector.recognised()
            if not request.stream:
                answer = LlmAnswer(request.model, TEXT, finish="stop", complete=True)
                written = write_answer(request, answer)
                kind = written.headers["content-type"]
                assert read_stream(request, kind, written.body) is None, vector.name


def test_real_streams_are_divided_without_a_loss() -> None:
    for family in LLM_APIS:
        for vector in vectors(family.name):
            request = vector.recognised()
            stream = read_stream(request, vector.content_type, vector.body)
            if stream is not None:
                assert b"".join(stream.events) == vector.body, vector.name
                number = stream.index_of(StreamPoint(before="end_marker"))
                assert 1 <= number < len(stream.events), vector.name


@pytest.mark.parametrize("between", [",\n", "\n,\n", ",\r\n", ","])
def test_the_items_of_a_growing_array_are_its_events(between: str) -> None:
    request = next(it.recognised() for it in FORMS if it.recognised().variant == "array")
    item = '{"candidates": [{"content": {"parts": [{"text": "a},{"}]}}]}'
    body = f"[{between.join([item] * 3)}]".encode()

    stream = read_stream(request, "application/json", body)

    assert stream is not None
    assert [event.count(b'"text"') for event in stream.events] == [1, 1, 1]
    assert read(stream, stream.broken_off(StreamPoint(events=2), "overloaded")).text == "a},{a},{"
