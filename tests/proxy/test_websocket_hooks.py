"""WebSockets pass, and their messages are counted."""

import ssl
from pathlib import Path

import pytest
import websockets.sync.client

from tests.proxy.support.lanes import Begin
from tests.proxy.support.origin import server_context
from tests.proxy.support.websocket import echo_site
from warex.proxy.ca import CertificateAuthority
from warex.traces import RequestSeen, ResponseSeen, WebSocketSeen

pytestmark = pytest.mark.wire


def test_a_websocket_passes_untouched(
    begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    certificate, key = ca.leaf("localhost", tmp_path)
    with echo_site(server_context(certificate, key, ["http/1.1"])) as port, begin() as lane:
        trusted = ssl.create_default_context(cafile=str(ca.certificate))
        with websockets.sync.client.connect(
            f"wss://localhost:{port}/ws", proxy=lane.url, ssl=trusted
        ) as channel:
            for message in ("héllo", b"\x00\xff" * 5000, ""):
                channel.send(message)
                assert channel.recv(timeout=5) == message
            channel.close(4001, "enough")
    seen = lane.events(WebSocketSeen)
    assert [(e.what, e.from_client, e.size, e.text) for e in seen[:4]] == [
        ("message", True, 6, True),
        ("message", False, 6, True),
        ("message", True, 10000, False),
        ("message", False, 10000, False),
    ]
    assert (seen[-1].what, seen[-1].from_client, seen[-1].close_code) == ("closed", True, 4001)
    assert [event.resource for event in lane.events(RequestSeen)] == ["websocket"]
    assert [event.status for event in lane.events(ResponseSeen)] == [101]
