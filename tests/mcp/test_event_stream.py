import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from warex.mcp.event_stream import SseEvent, SseReader

STREAM = (
    b": hello\r\n\r\nid: 1\r\nevent: endpoint\r\ndata: /m\r\n\r\n"
    b"data: a\ndata:b\n\n\rdata: \xc3\xa9\r\r"
)


def test_an_event_has_its_name_its_data_and_whether_one_can_go_on_after_it() -> None:
    result = SseReader().feed(STREAM)

    events = [(event.name, event.data, event.has_id) for event in result if event.data]
    assert events == [
        ("endpoint", b"/m", True),
        ("message", b"a\nb", False),
        ("message", "é".encode(), False),
    ]


@settings(max_examples=60)
@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_an_event_stream_is_parsed_in_any_pieces(cuts: list[int]) -> None:
    reader = SseReader()
    results: list[SseEvent] = []
    for begin, end in itertools.pairwise([0, *sorted(cuts), len(STREAM)]):
        results += reader.feed(STREAM[begin:end])

    assert b"".join(event.raw for event in results) + reader.rest() == STREAM
    assert [it.data for it in results if it.data] == [b"/m", b"a\nb", "é".encode()]


@settings(max_examples=60)
@given(st.lists(st.text("\r\n :daté", max_size=8).map(str.encode), max_size=8))
def test_an_unchanged_event_stream_passes_byte_for_byte(pieces: list[bytes]) -> None:
    reader = SseReader(longest=20)
    given_back = b"".join(event.raw for piece in pieces for event in reader.feed(piece))

    assert given_back + reader.rest() == b"".join(pieces)


def test_an_endless_event_is_bounded() -> None:
    reader = SseReader(longest=1000)
    for _ in range(1000):
        for event in reader.feed(b"data: x" * 10):
            assert event.data == b""
        assert len(reader._rest) <= 1000

    assert [event.data for event in reader.feed(b"\n\ndata: y\n\n")][-1] == b"y"
