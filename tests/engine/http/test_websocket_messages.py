"""The messages of a WebSocket (RFC 6455) and their compression (RFC 7692)."""

import zlib
from contextlib import suppress

import pytest
from bench.fuzz.mutants_websocket import OPAQUE, READABLE, deflated, frame
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.websocket import FrameParser
from warex.engine.http.websocket_messages import (
    Closed,
    Message,
    MessageReader,
    Opaque,
    SocketEvent,
    agrees_on_deflate,
)

MASK = b"\x10\x20\x30\x40"


def read(data: bytes, *, step: int = 0, deflates: bool = True, keep: int = 0) -> list[SocketEvent]:
    parser = FrameParser(from_client=True)
    reader = MessageReader(deflates=deflates, keep=keep)
    pieces = [data[at : at + step] for at in range(0, len(data), step)] if step else [data]
    seen = (reader.read(it) for piece in pieces for it in parser.receive(piece))
    return [event for event in seen if event is not None]


@pytest.mark.parametrize("answered", READABLE)
def test_a_lawful_negotiation_can_be_read(answered: str) -> None:
    assert agrees_on_deflate(answered) == ("deflate" in answered)


@pytest.mark.parametrize("answered", OPAQUE)
def test_any_other_is_refused_with_the_reason(answered: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        agrees_on_deflate(answered)


@pytest.mark.parametrize("step", [0, 1, 7])
def test_messages_are_counted_by_what_they_hold(step: int) -> None:
    text = "é" * 1000
    data = (
        frame(1, text.encode(), mask=MASK)
        + frame(9, b"ping", mask=MASK)
        + frame(2, deflated(b"\x00" * 100_000)[:50], fin=False, rsv=4, mask=MASK)
        + frame(0, deflated(b"\x00" * 100_000)[50:], mask=MASK)
        + frame(1, b"", mask=MASK)
        + frame(8, b"\x0f\xa1bye", mask=MASK)
        + b"what follows a close is not read"
    )
    assert read(data, step=step) == [
        Message(2000, True),
        Message(100_000, False),
        Message(0, True),
        Closed(4001),
    ]


def test_the_beginning_of_a_message_is_kept_where_it_is_asked_for() -> None:
    data = frame(1, b"hello", fin=False, mask=MASK) + frame(0, b" world", mask=MASK)
    data += frame(1, deflated(b"again"), rsv=4, mask=MASK)

    assert read(data, keep=7) == [Message(11, True, b"hello w"), Message(5, True, b"again")]


def test_any_window_and_any_takeover_is_decompressed() -> None:
    messages = [deflated(b"hello" * 50, window) for window in (8, 9, 15)]
    data = b"".join(frame(2, it, rsv=4, mask=MASK) for it in messages)
    assert read(data) == [Message(250, False)] * 3


def test_what_earlier_messages_held_is_referred_to() -> None:
    shared, data = zlib.compressobj(wbits=-15), b""
    for _ in range(3):
        sent = shared.compress(b"hello world" * 9) + shared.flush(zlib.Z_SYNC_FLUSH)
        data += frame(1, sent[:-4], rsv=4, mask=MASK)

    assert read(data) == [Message(99, True)] * 3


def test_a_block_that_is_marked_as_the_last_ends_no_more_than_itself() -> None:
    last = zlib.compressobj(wbits=-15)
    ended = last.compress(b"hello") + last.flush()
    data = frame(1, ended + b"\x00", rsv=4, mask=MASK) + frame(1, ended, rsv=4, mask=MASK)

    assert read(data + frame(1, deflated(b"world"), rsv=4, mask=MASK)) == [Message(5, True)] * 3


def test_a_bomb_is_not_inflated_to_its_end() -> None:
    compressor = zlib.compressobj(9, wbits=-15)
    bomb = b"".join(compressor.compress(bytes(1 << 20)) for _ in range(40))
    bomb += compressor.flush(zlib.Z_SYNC_FLUSH)

    (seen,) = read(frame(2, bomb, rsv=4, mask=MASK))
    assert isinstance(seen, Opaque)
    assert "decompresses to more than" in seen.reason


@pytest.mark.parametrize(
    "data",
    [
        frame(3, b"a", mask=MASK),
        frame(0, b"a", mask=MASK),
        frame(1, b"a", fin=False, mask=MASK) + frame(1, b"a", mask=MASK),
        frame(1, b"a", fin=False, mask=MASK) + frame(0, b"a", rsv=4, mask=MASK),
        frame(1, b"\xff", mask=MASK),
        frame(1, b"\xc3", mask=MASK),
        frame(1, b"no deflate", rsv=4, mask=MASK),
        frame(2, b"\x03\x00" * 2000, rsv=4, mask=MASK),
        frame(8, b"a", mask=MASK),
        frame(8, b"\x03\xec", mask=MASK),
        frame(8, b"\x03\xe8\xff", mask=MASK),
    ],
)
def test_a_side_that_cannot_be_read_is_reported_once(data: bytes) -> None:
    (seen,) = read(data + frame(1, b"b", mask=MASK))
    assert isinstance(seen, Opaque)
    assert seen.reason.startswith("a frame cannot be read: ")


def test_nothing_is_compressed_where_that_was_not_agreed_on() -> None:
    (seen,) = read(frame(1, deflated(b"a"), rsv=4, mask=MASK), deflates=False)
    assert isinstance(seen, Opaque)


def test_a_close_may_have_no_code() -> None:
    assert read(frame(8, b"", mask=MASK)) == [Closed(1005)]


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise(data: bytes, deflates: bool) -> None:
    read(data, deflates=deflates)


@given(st.text(max_size=80) | st.from_regex(r"permessage-deflate(; ?[a-z_]+=?[0-9\"a]*){0,4}"))
def test_no_negotiation_raises_anything_but_its_reason(answered: str) -> None:
    with suppress(ValueError):
        agrees_on_deflate(answered)
