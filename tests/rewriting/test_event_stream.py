import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.event_stream import EVENT_STREAM, EventSplitter, StreamEvent

LINES = "application/x-ndjson"


def split(media_type: str, *pieces: bytes) -> list[StreamEvent]:
    splitter = EventSplitter(media_type)
    return [*(it for piece in pieces for it in splitter.feed(piece)), *splitter.close()]


def test_events_have_their_data_and_type() -> None:
    stream = (
        b": hello\n\nevent: price\nid: 7\ndata: a\ndata:b\n\nretry: 100\r\ndata: c\r\n\r\ndata: cut"
    )
    comment, first, second, rest = split(EVENT_STREAM, stream)

    assert (comment.content, rest.content) == (None, None)
    assert (first.content, first.name) == (b"a\nb", "price")
    assert (second.content, second.name) == (b"c", "message")
    assert second.left_out() == b"retry: 100\n\n"
    assert first.left_out() == b""


def test_an_event_with_another_content_keeps_its_fields_and_line_ends() -> None:
    (event,) = split(EVENT_STREAM, b"id: 7\r\ndata: a\r\ndata: b\r\nevent: x\r\n\r\n")
    assert event.with_content(b"c") == b"id: 7\r\ndata: c\r\nevent: x\r\n\r\n"
    assert event.with_content(b"c\nd") == b"id: 7\r\ndata: c\r\ndata: d\r\nevent: x\r\n\r\n"


def test_lines_are_events_also_the_last() -> None:
    events = split(LINES, b'{"a": 1}\n\n{"a"', b": 2}\r\n[3]")
    assert [it.content for it in events] == [b'{"a": 1}', None, b'{"a": 2}', b"[3]"]
    assert events[2].with_content(b"{}") == b"{}\r\n"
    (text,) = split("application/json-seq", b"\x1e[1]\n")
    assert (text.content, text.with_content(b"[2]"), text.left_out()) == (b"[1]", b"\x1e[2]\n", b"")


@pytest.mark.parametrize("media_type", [EVENT_STREAM, LINES])
def test_what_is_too_long_passes_to_its_end(media_type: str) -> None:
    ends = b"\n\n" if media_type == EVENT_STREAM else b"\n"
    long = b"data: " + b"x" * 700_000
    events = split(media_type, long, long, ends + b"data: y" + ends)
    assert [it.content for it in events[:-1]] == [None] * (len(events) - 1)
    assert b"".join(it.raw for it in events) == long + long + ends + b"data: y" + ends
    assert events[-1].content in (b"y", b"data: y")


@given(
    st.sampled_from([EVENT_STREAM, LINES]),
    st.lists(
        st.sampled_from(
            [b"\n", b"\r", b"\r\n", b"data: a", b"id:1", b"x", b"\x1e", b"\xef\xbb\xbf"]
        )
    ),
    st.integers(1, 5),
)
def test_the_parts_are_what_came(media_type: str, pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    cut = [data[at : at + size] for at in range(0, len(data), size)]
    assert b"".join(it.raw for it in split(media_type, *cut)) == data
