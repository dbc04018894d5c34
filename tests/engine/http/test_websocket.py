"""WebSocket frames: what came passes, whatever it is (RFC 6455 §5.2)."""

import pytest
from bench.fuzz.mutants_websocket import frame
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.websocket import Frame, FrameParser, serialise

MASK = b"\x10\x20\x30\x40"


def parsed(data: bytes, *, step: int = 0, from_client: bool = True) -> list[Frame]:
    parser = FrameParser(from_client=from_client)
    pieces = [data[at : at + step] for at in range(0, len(data), step)] if step else [data]
    frames = [it for piece in pieces for it in parser.receive(piece)]
    assert b"".join(it.raw for it in frames) + parser.rest() == data
    return frames


@pytest.mark.parametrize("step", [0, 1, 7])
@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_a_frame_comes_whole_and_unmasked(size: int, step: int) -> None:
    payload = bytes(range(256)) * 256
    data = frame(2, payload[:size], mask=MASK) + frame(9, b"ping", mask=MASK)

    first, ping = parsed(data, step=step)

    assert (first.opcode, first.payload, first.final, first.flaw) == (2, payload[:size], True, "")
    assert (ping.opcode, ping.payload) == (9, b"ping")


def test_the_bits_of_a_frame_are_named() -> None:
    (begun, ended) = parsed(frame(1, b"a", fin=False, rsv=4, mask=MASK) + frame(0, b"b", mask=MASK))

    assert (begun.final, begun.compressed) == (False, True)
    assert (ended.opcode, ended.final, ended.compressed) == (0, True, False)


@pytest.mark.parametrize("mask", [b"", MASK])
def test_a_long_frame_comes_in_parts_that_continue_it(mask: bytes) -> None:
    payload = bytes(range(251)) * 1000
    data = frame(2, payload, rsv=4, mask=mask) + frame(8, b"", mask=mask)

    *parts, close = parsed(data, step=1001, from_client=bool(mask))

    assert len(parts) > 100
    assert b"".join(it.payload for it in parts) == payload
    assert [it.opcode for it in parts[:2]] == [2, 0]
    assert [it.compressed for it in parts[:2]] == [True, False]
    assert [it.final for it in parts].index(True) == len(parts) - 1
    assert close.opcode == 8


def test_an_endless_frame_is_not_buffered() -> None:
    parser = FrameParser(from_client=False)
    head = b"\x82\x7f" + (1 << 62).to_bytes(8)
    assert sum(len(it.raw) for it in parser.receive(head)) == len(head)
    for _ in range(100):
        assert sum(len(it.raw) for it in parser.receive(bytes(4096))) == 4096
    assert parser.rest() == b""


@pytest.mark.parametrize(
    ("data", "flaw"),
    [
        (frame(1, b"a", rsv=2, mask=MASK), "a reserved bit is set"),
        (frame(3, b"a", mask=MASK), "the opcode 3 is reserved"),
        (frame(1, b"a"), "a frame of the client is not masked"),
        (b"\x81\xfe\x00\x01" + MASK + b"a", "the length is longer than it needs to be"),
        (
            b"\x81\xff" + bytes(7) + b"\x01" + MASK + b"a",
            "the length is longer than it needs to be",
        ),
        (b"\x81\xff\xff" + bytes(7) + MASK, "the length is negative"),
        (frame(9, bytes(126), mask=MASK), "a control frame is too long"),
        (frame(9, b"", fin=False, mask=MASK), "a control frame is divided"),
        (frame(9, b"", rsv=4, mask=MASK), "a control frame is compressed"),
    ],
)
def test_a_frame_that_breaks_the_rules_passes_and_says_how(data: bytes, flaw: str) -> None:
    assert [it.flaw for it in parsed(data)] == [flaw]


def test_a_site_does_not_mask() -> None:
    (seen,) = parsed(frame(1, b"a", mask=MASK), from_client=False)
    assert (seen.flaw, seen.payload) == ("a frame of the site is masked", b"a")


@given(st.lists(st.binary(max_size=80)), st.booleans())
def test_any_bytes_pass_as_they_come(pieces: list[bytes], from_client: bool) -> None:
    parser = FrameParser(from_client=from_client)
    frames = [it for piece in pieces for it in parser.receive(piece)]
    assert b"".join(it.raw for it in frames) + parser.rest() == b"".join(pieces)


@pytest.mark.parametrize("size", [0, 125, 126, 65_536])
@pytest.mark.parametrize("mask", [b"", MASK])
def test_a_changed_frame_is_written_again(size: int, mask: bytes) -> None:
    made = Frame(1, b"x" * size, final=False, compressed=True)

    assert serialise(made, mask) == frame(1, made.payload, fin=False, rsv=4, mask=mask)
    assert serialise(Frame(1, b"", raw=b"as it came")) == b"as it came"
