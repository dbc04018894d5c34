"""A WebSocket that its handler's plan ends, and one that its client leaves while it is held."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from bench.fuzz.mutants_websocket import frame

from tests.engine.running import Scripted, running, wait_until
from tests.proxy.support.client import tunnelled, was_reset
from tests.proxy.support.raw_sockets import RawSite, read_for
from warex.engine.handler import (
    EndSocket,
    Exchange,
    FrameStep,
    FrameUse,
    Happened,
    HoldMessages,
)
from warex.engine.http.websocket import Frame, FrameParser
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
ASKED = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
CLOSE = frame(8, b"\x03\xf3why")


class Ending(Scripted):
    """Plans frames as a test says."""

    plan: Callable[[Frame], Iterable[FrameStep]]
    sent: list[tuple[object, bool]]

    def wants_frames(self, exchange: Exchange) -> FrameUse | None:
        return "change"

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[FrameStep]:
        return self.plan(frame)

    def steps_done(self, exchange: Exchange, note: Any, *, arrived: bool) -> None:
        self.sent.append((note, arrived))


def planned(plan: Callable[[Frame], Iterable[FrameStep]]) -> Ending:
    handler = Ending()
    handler.plan, handler.sent = plan, []
    return handler


def test_a_close_frame_goes_to_both_sides_and_nothing_after_it(ca: CertificateAuthority) -> None:
    ends = EndSocket("close", 1011, "why", "note")
    handler = planned(lambda it: (ends,) if it.payload == b"last" else (it,))
    with running(handler, ca) as engine, RawSite() as site:
        site.expects(SWITCH + frame(1, b"first") + frame(1, b"last") + frame(1, b"never"))
        with tunnelled(engine.port, "127.0.0.1", site.port) as client:
            client.settimeout(5)
            client.sendall(ASKED)
            wanted = SWITCH + frame(1, b"first") + CLOSE
            assert read_for(client, len(wanted)) == wanted
            client.sendall(frame(1, b"late", mask=b"mask") + frame(8, b"\x03\xf3", mask=b"mask"))
            # Once the client has answered, the server closes first (RFC 6455 §7.1.1).
            assert read_for(client, 1) == b""
        assert site.wait()
        wait_until(lambda: handler.upgrades_closed)
    assert handler.sent == [("note", True)]
    (closing,) = FrameParser(from_client=True).receive(site.rest)
    assert (closing.opcode, closing.payload, closing.flaw) == (8, b"\x03\xf3why", "")


def test_a_reset_is_one_at_the_client(ca: CertificateAuthority) -> None:
    handler = planned(lambda it: (it, EndSocket("reset", note="note")))
    with running(handler, ca) as engine, RawSite() as site:
        site.expects(SWITCH + frame(1, b"first"))
        with tunnelled(engine.port, "127.0.0.1", site.port) as client:
            client.settimeout(5)
            client.sendall(ASKED)
            assert was_reset(client)
        assert site.wait()
        wait_until(lambda: handler.upgrades_closed)
    assert handler.sent == [("note", True)]


def test_a_client_that_ends_while_messages_are_held_for_it_has_left(
    ca: CertificateAuthority,
) -> None:
    handler = planned(lambda it: (HoldMessages(math.inf), it, Happened("note")))
    with running(handler, ca) as engine, RawSite() as site:
        site.expects(SWITCH + frame(1, b"first"))
        with tunnelled(engine.port, "127.0.0.1", site.port) as client:
            client.sendall(ASKED)
            assert read_for(client, len(SWITCH)) == SWITCH
        assert site.wait()
        wait_until(lambda: handler.upgrades_closed)
    assert (handler.sent, handler.closed_by_client) == ([], [True])
