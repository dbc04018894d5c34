import pytest

from warex.llm.sse import sse_data

STREAM = ": hello\nid: 7\nevent: x\ndata: one\ndata:two\n\n\ndata: é\n\ndata\n\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_with_every_line_ending(end: str) -> None:
    body = STREAM.replace("\n", end).encode()
    assert list(sse_data(body)) == ["one\ntwo", "é", ""]


def test_the_last_event_counts_without_its_blank_line() -> None:
    assert list(sse_data(b"data: a\n\ndata: [DONE]")) == ["a", "[DONE]"]


def test_only_one_space_is_taken_off() -> None:
    assert list(sse_data(b"\xef\xbb\xbfdata:  x\n\n")) == [" x"]
