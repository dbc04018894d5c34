"""Whatever is negotiated and sent on a WebSocket passes as it is."""

from collections import Counter

import pytest
from bench.fuzz.mutants_websocket import (
    ACCEPT,
    KEY,
    OPAQUE,
    READABLE,
    answers,
    deflated,
    frame,
    frames,
)

from tests.proxy.support.client import tunnelled
from tests.proxy.support.lanes import Begin, Lane
from tests.proxy.support.raw_sockets import RawSite, read_for
from warex.traces import HarnessBroke, Tunnel, WebSocketSeen

pytestmark = pytest.mark.wire

MASK = b"\x01\xfe\x80\x00"
ASKED = "GET /ws HTTP/1.1\r\nHost: localhost:{}\r\n" + (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
)
TAKEN = f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {ACCEPT}\r\n"


def taken(extensions: str = "permessage-deflate") -> bytes:
    header = f"Sec-WebSocket-Extensions: {extensions}\r\n" if extensions else ""
    return f"HTTP/1.1 101 Switching Protocols\r\n{TAKEN}{header}\r\n".encode()


def passes(
    lane: Lane, site: RawSite, answer: bytes, sent: bytes, from_site: bytes, name: str
) -> None:
    """Open a WebSocket; the site sends, then the client: neither is changed."""
    site.expects(answer + from_site)
    with tunnelled(lane.port, "localhost", site.port) as client:
        client.settimeout(2)
        client.sendall(ASKED.format(site.port).encode())
        assert read_for(client, len(answer + from_site)) == answer + from_site, name
        client.sendall(sent)
        client.shutdown(1)
        assert site.wait(), name
    assert site.rest == sent, name
    assert lane.proxy.broken is None, name


def test_a_negotiation_that_cannot_be_read_passes_untouched_and_opaque(begin: Begin) -> None:
    refused = "permessage-deflate; client_max_window_bits=abc"
    sent = frame(1, deflated(b"hello"), rsv=4, mask=MASK)
    with begin() as lane, RawSite("localhost") as site:
        passes(lane, site, taken(refused), sent, frame(1, b"hi"), refused)
        passes(lane, site, taken("permessage-deflate; server_max_window_bits=8"), sent, b"", "8")
    seen = lane.events(WebSocketSeen)
    assert [(event.what, event.exchange) for event in seen] == [
        ("opaque", "x1"),
        ("closed", "x1"),
        ("message", "x2"),
        ("closed", "x2"),
    ]
    assert seen[0].reason == "client_max_window_bits is 'abc', not 8 to 15"
    assert [event.close_code for event in seen] == [None, 1006, None, 1006]
    assert (seen[2].size, seen[2].text, seen[2].from_client) == (5, True, True)


@pytest.mark.slow
def test_no_answer_to_a_handshake_voids_a_trial_or_is_changed(begin: Begin) -> None:
    message = frame(2, b"\x00\xff", mask=MASK)
    with begin() as lane, RawSite("localhost") as site:
        for name, answer in answers():
            passes(lane, site, answer, message, frame(1, b"hi"), name)
    whats = Counter(event.what for event in lane.events(WebSocketSeen))
    assert whats["opaque"] >= len(OPAQUE)
    assert whats["message"] >= 2 * len(READABLE)
    assert {event.why for event in lane.events(Tunnel)} == {"not_http"}
    assert lane.events(HarnessBroke) == []


@pytest.mark.slow
@pytest.mark.parametrize("extensions", ["", "permessage-deflate", "unknown"])
def test_no_frame_voids_a_trial_or_is_changed(begin: Begin, extensions: str) -> None:
    with begin() as lane, RawSite("localhost") as site:
        for name, sent in frames(MASK):
            passes(lane, site, taken(extensions), sent, frame(1, b"hi"), f"client: {name}")
        for name, from_site in frames(b""):
            passes(
                lane, site, taken(extensions), frame(8, b"", mask=MASK), from_site, f"site: {name}"
            )
    seen = Counter((event.what, event.from_client) for event in lane.events(WebSocketSeen))
    if extensions == "unknown":
        assert seen["message", True] + seen["message", False] == 0
    else:
        assert min(seen["message", True], seen["opaque", True], seen["opaque", False]) >= 4
    assert lane.events(HarnessBroke) == []
