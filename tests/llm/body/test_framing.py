import pytest

from warex.llm.body.framing import EVENT_STREAM, EventReader, split_frames, sse_data, stream_chunks
from warex.llm.families.writing import aws_message

STREAM = ": hello\nid: 7\nevent: x\ndata: one\ndata:two\n\n\ndata: é\n\ndata\n\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_with_every_line_ending(end: str) -> None:
    body = STREAM.replace("\n", end).encode()
    assert list(sse_data(body)) == [b"one\ntwo", "é".encode(), b""]


def test_the_last_event_counts_without_its_blank_line() -> None:
    assert list(sse_data(b"data: a\n\ndata: [DONE]")) == [b"a", b"[DONE]"]


def test_only_one_space_is_taken_off() -> None:
    assert list(sse_data(b"\xef\xbb\xbfdata:  x\n\n")) == [b" x"]


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/event-stream", b'data: {"a": 1}\n\n' * 3 + b"data: [DONE]\n\n"),
        ("application/x-ndjson", b'{"a": 1}\n' * 3),
        (EVENT_STREAM, aws_message("a", 1) * 3),
    ],
)
def test_a_stream_holds_one_value_at_a_time(kind: str, body: bytes) -> None:
    stream = split_frames(body, kind)

    assert iter(stream.items) is stream.items
    assert not stream.done
    assert len(list(stream.items)) == 3
    assert stream.done == (b"[DONE]" in body)


def test_a_long_stream_of_messages_is_divided_in_time_that_grows_with_it() -> None:
    # Were what is left copied for each message, it would be 250 GB.
    number = 100_000
    assert sum(1 for _ in stream_chunks(aws_message("a", 1) * number, EVENT_STREAM)) == number


def test_events_are_read_as_soon_as_they_are_complete() -> None:
    reader, body = EventReader(), bytearray()
    seen = []
    for piece in (
        b'data: {"a":1}\n',
        b'\ndata: {"a":2',
        b"}\r\n\r",
        b"\n",
        b"data: [DONE]\n\n",
        b"more",
    ):
        body += piece
        seen.append(list(reader.read(body)))
    assert seen == [[], [{"a": 1}], [], [{"a": 2}], [], []]
    assert reader.done


@pytest.mark.parametrize("body", [b'{"a":1}\n\n{"a":2}\n\n', b"<p>\n\n</p>\n\n", b"\n\n\n\n"])
def test_what_is_not_a_stream_of_events_is_left_for_its_end(body: bytes) -> None:
    reader = EventReader()
    assert list(reader.read(bytearray(body))) == []
    assert reader.taken == 0
