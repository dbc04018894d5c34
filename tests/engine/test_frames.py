"""WebSocket frames pass a handler, which may change them."""

from collections.abc import Iterable

from bench.fuzz.mutants_websocket import frame

from tests.engine.pass_through import PassThrough
from tests.lane.support.traffic import request_head
from warex.engine.frames import FrameFilter
from warex.engine.handler import Address, Connection, Exchange
from warex.engine.http.websocket import Frame, FrameParser

MASK = b"\x10\x20\x30\x40"
EXCHANGE = Exchange(Connection(1, Address("127.0.0.1", 1)), request_head())


class Shouting(PassThrough):
    """Sends text twice in upper case, and no pings."""

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[Frame]:
        if frame.opcode == 9:
            return ()
        return (Frame(1, frame.payload.upper()), frame) if frame.opcode == 1 else (frame,)


def test_what_a_handler_leaves_alone_passes_as_it_came() -> None:
    passing = FrameFilter(PassThrough(), EXCHANGE, "change", from_client=True)
    data = frame(1, b"hello", mask=MASK) + frame(3, b"?") + b"\x81\x85" + MASK + b"in"

    assert b"".join(passing.receive(data[at : at + 1]) for at in range(len(data))) == data[:-8]
    assert passing.rest() == data[-8:]


def test_frames_that_are_only_read_pass_as_their_bytes_come() -> None:
    passing = FrameFilter(PassThrough(), EXCHANGE, "read", from_client=False)
    data = frame(1, b"hello") + b"\x82\x7f" + b"\xff" * 8 + b"abc"

    assert [passing.receive(data[at : at + 1]) for at in range(len(data))] == [
        data[at : at + 1] for at in range(len(data))
    ]
    assert passing.rest() == b""


def test_a_handler_stops_the_bytes_of_a_frame_that_may_not_pass() -> None:
    sent = frame(1, b"hello") + frame(9, b"ping")
    given = FrameFilter(Shouting(), EXCHANGE, "read", from_client=False)

    assert [given.receive(frame(1, b"hello")), given.receive(sent)] == [frame(1, b"hello"), b""]


def test_a_changed_frame_of_a_client_is_masked_and_a_sites_is_not() -> None:
    sent = frame(9, b"ping", mask=MASK) + frame(1, b"hello", mask=MASK)
    given = FrameFilter(Shouting(), EXCHANGE, "change", from_client=True).receive(sent)
    changed, as_it_came = FrameParser(from_client=True).receive(given)
    assert (changed.payload, changed.flaw) == (b"HELLO", "")
    assert as_it_came.raw == frame(1, b"hello", mask=MASK)

    of_site = FrameFilter(Shouting(), EXCHANGE, "change", from_client=False)
    assert of_site.receive(frame(1, b"hello")) == frame(1, b"HELLO") + frame(1, b"hello")
