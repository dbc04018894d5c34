"""WebSocket frames pass a handler, which may change, hold and end them."""

import asyncio
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from bench.fuzz.mutants_websocket import frame

from tests.engine.pass_through import PassThrough
from tests.lane.support.traffic import request_head
from warex.engine.handler import (
    Address,
    AwaitRate,
    Connection,
    EndSocket,
    Exchange,
    FrameStep,
    FrameUse,
    Happened,
    HoldMessages,
)
from warex.engine.http.byte_rate import ByteRate
from warex.engine.http.websocket import Frame, FrameParser
from warex.engine.upgrade.frames import MOST_HELD, FrameRelay

MASK = b"\x10\x20\x30\x40"
EXCHANGE = Exchange(Connection(1, Address("127.0.0.1", 1)), request_head())


class Receiver:
    """The end of a connection that takes everything at once."""

    unsent = 0

    def is_established(self) -> bool:
        return True


class Planned(PassThrough):
    """Does what a test says."""

    def __init__(self, plan: Callable[[Frame], Iterable[FrameStep]]) -> None:
        super().__init__()
        self.plan = plan
        self.notes: list[object] = []

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[FrameStep]:
        return self.plan(frame)

    def steps_done(self, exchange: Exchange, note: Any, *, arrived: bool) -> None:
        self.notes.append(note)


class Side:
    """A relay, what it has sent, and the ends that it was asked for."""

    def __init__(
        self, handler: PassThrough, use: FrameUse = "change", *, from_client: bool = False
    ) -> None:
        self.sent: list[bytes] = []
        self.ends: list[EndSocket] = []
        self.relay = FrameRelay(
            handler,
            EXCHANGE,
            use,
            from_client=from_client,
            write=self.sent.append,
            end=self.ends.append,
            receiver=Receiver(),  # type: ignore[arg-type]
            now=time.monotonic,
        )

    def take(self, data: bytes) -> bytes:
        """Return what is sent for the next bytes."""
        self.sent.clear()
        self.relay.receive(data)
        return b"".join(self.sent)


def shout(frame: Frame) -> Iterable[FrameStep]:
    """Send text twice in upper case, and no pings."""
    if frame.opcode == 9:
        return ()
    return (Frame(1, frame.payload.upper()), frame) if frame.opcode == 1 else (frame,)


def test_what_a_handler_leaves_alone_passes_as_it_came() -> None:
    side = Side(PassThrough(), from_client=True)
    data = frame(1, b"hello", mask=MASK) + frame(3, b"?") + b"\x81\x85" + MASK + b"in"

    assert b"".join(side.take(data[at : at + 1]) for at in range(len(data))) == data[:-8]
    side.sent.clear()
    asyncio.run(side.relay.ended())
    assert b"".join(side.sent) == data[-8:]


def test_frames_that_are_only_read_pass_as_their_bytes_come() -> None:
    side = Side(PassThrough(), "read")
    data = frame(1, b"hello") + b"\x82\x7f" + b"\xff" * 8 + b"abc"

    assert [side.take(data[at : at + 1]) for at in range(len(data))] == [
        data[at : at + 1] for at in range(len(data))
    ]
    side.sent.clear()
    asyncio.run(side.relay.ended())
    assert side.sent == []


def test_a_handler_stops_the_bytes_of_a_frame_that_may_not_pass() -> None:
    sent = frame(1, b"hello") + frame(9, b"ping")
    side = Side(Planned(shout), "read")

    assert [side.take(frame(1, b"hello")), side.take(sent)] == [frame(1, b"hello"), b""]


def test_a_changed_frame_of_a_client_is_masked_and_a_sites_is_not() -> None:
    sent = frame(9, b"ping", mask=MASK) + frame(1, b"hello", mask=MASK)
    inputs = Side(Planned(shout), from_client=True).take(sent)
    changed, as_it_came = FrameParser(from_client=True).receive(inputs)
    assert (changed.payload, changed.flaw) == (b"HELLO", "")
    assert as_it_came.raw == frame(1, b"hello", mask=MASK)

    of_site = Side(Planned(shout))
    assert of_site.take(frame(1, b"hello")) == frame(1, b"HELLO") + frame(1, b"hello")


@pytest.mark.parametrize("closing", [frame(8, b"\x03\xe8"), b""])
def test_messages_are_held_in_order_and_pings_pass_them(closing: bytes) -> None:
    def plan(frame: Frame) -> Iterable[FrameStep]:
        pending = frame.payload == b"late"
        return (HoldMessages(0.01), frame, Happened("sent")) if pending else (frame,)

    async def scenario() -> None:
        handler = Planned(plan)
        side = Side(handler)
        assert side.take(frame(1, b"first") + frame(1, b"late")) == frame(1, b"first")
        assert side.take(frame(1, b"next") + frame(9, b"ping") + closing) == frame(9, b"ping")
        assert handler.notes == []
        side.sent.clear()
        await side.relay.ended()
        pending = frame(1, b"late") + frame(1, b"next") + closing
        assert (b"".join(side.sent), handler.notes) == (pending, ["sent"])

    asyncio.run(scenario())


def test_after_a_hold_for_good_only_pings_and_a_close_pass() -> None:
    async def scenario() -> None:
        side = Side(Planned(lambda it: (HoldMessages(math.inf), it) if it.opcode == 1 else (it,)))
        closed = frame(9, b"ping") + frame(8, b"\x03\xe8")
        assert side.take(frame(1, b"a") + frame(1, b"b") + closed) == closed
        side.sent.clear()
        await side.relay.ended()
        assert side.sent == []

    asyncio.run(scenario())


def test_a_side_of_which_much_is_held_is_not_read() -> None:
    async def scenario() -> None:
        side = Side(Planned(lambda it: (HoldMessages(0.01), it)))
        side.take(frame(2, bytes(1000)))
        await asyncio.wait_for(side.relay.has_room(), 1)
        side.take(frame(2, bytes(MOST_HELD)))
        waiting = asyncio.ensure_future(side.relay.has_room())
        await asyncio.sleep(0)
        assert not waiting.done()
        await asyncio.wait_for(waiting, 1)

    asyncio.run(scenario())


def test_limited_frames_keep_their_order_with_pings() -> None:
    async def scenario() -> None:
        now = time.monotonic()
        rate = ByteRate(1_000_000)
        side = Side(Planned(lambda it: (AwaitRate((rate,), len(it.payload), now), it)))
        long, ping = frame(2, bytes(100_000)), frame(9, b"ping")
        assert side.take(long[:90_000]) == b""
        side.relay.receive(long[90_000:] + ping)
        assert side.sent == []
        await asyncio.wait_for(side.relay.ended(), 5)

        assert b"".join(side.sent) == long + ping
        assert rate.reserve(0, now, now) == pytest.approx(0.100_004)

    asyncio.run(scenario())


def test_an_end_is_asked_for_once_what_comes_before_it_is_sent() -> None:
    side = Side(Planned(lambda it: (it, EndSocket("close", 1011), Frame(1, b"never"))))

    assert side.take(frame(1, b"last")) == frame(1, b"last")
    assert side.ends == [EndSocket("close", 1011)]


def test_a_close_frame_waits_for_the_end_of_a_frame_that_is_being_sent() -> None:
    side = Side(PassThrough())
    long = frame(2, bytes(100_000))
    assert side.take(long[:90_000]) == long[:90_000]
    side.relay.close(Frame(8, b"\x03\xf3"))

    assert side.take(long[90_000:] + frame(1, b"more")) == long[90_000:] + frame(8, b"\x03\xf3")
    assert not side.relay.is_answered
    assert side.take(frame(8, b"\x03\xf3")) == b""
    assert side.relay.is_answered
