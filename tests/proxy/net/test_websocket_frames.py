"""What is read of WebSockets: negotiations (RFC 7692 §7.1) and frames (RFC 6455 §5.2)."""

from contextlib import suppress

import pytest
from bench.fuzz.mutants_websocket import OPAQUE, READABLE, deflated, frame
from hypothesis import given
from hypothesis import strategies as st

from warex.proxy.net.websocket_frames import (
    Closed,
    FrameEvent,
    FrameReader,
    Message,
    NegotiatedExtensions,
    Opaque,
)

MASK = b"\x10\x20\x30\x40"


def read(data: bytes, *, step: int = 0, extensions: str = "permessage-deflate") -> list[FrameEvent]:
    direction = FrameReader(NegotiatedExtensions(extensions), from_client=True)
    pieces = [data[at : at + step] for at in range(0, len(data), step)] if step else [data]
    return [seen for piece in pieces for seen in direction.read(piece)]


@pytest.mark.parametrize("answered", READABLE)
def test_a_lawful_negotiation_can_be_read(answered: str) -> None:
    assert NegotiatedExtensions(answered).deflates == ("deflate" in answered)


@pytest.mark.parametrize("answered", OPAQUE)
def test_any_other_is_refused_with_the_reason(answered: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        NegotiatedExtensions(answered)


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


def test_any_window_and_any_takeover_is_decompressed() -> None:
    messages = [deflated(b"hello" * 50, window) for window in (8, 9, 15)]
    data = b"".join(frame(2, it, rsv=4, mask=MASK) for it in messages)
    assert read(data) == [Message(250, False)] * 3


def test_a_side_that_cannot_be_read_is_told_once() -> None:
    (seen,) = read(frame(3, b"a", mask=MASK) + frame(1, b"b", mask=MASK))
    assert isinstance(seen, Opaque)


@given(st.binary(max_size=300), st.sampled_from(["", "permessage-deflate"]))
def test_no_bytes_raise(data: bytes, extensions: str) -> None:
    read(data, extensions=extensions)


@given(st.text(max_size=80) | st.from_regex(r"permessage-deflate(; ?[a-z_]+=?[0-9\"a]*){0,4}"))
def test_no_negotiation_raises_anything_but_its_reason(answered: str) -> None:
    with suppress(ValueError):
        NegotiatedExtensions(answered)
