import ssl
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from tests.engine.running import shake_hands
from tests.mitmproxy_addon.dump import mitmdump
from tests.mitmproxy_addon.shop import Shop
from tests.ports import reserved_port
from tests.proxy.support.client import read_until_closed, trusting, tunnelled
from tests.proxy.support.lanes import wait_until
from tests.proxy.support.origin import served, server_context
from tests.proxy.support.raw_sockets import RawSite, read_for
from tests.proxy.support.websocket import echo_site
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import SiteUnreachable, TlsRejected, Tunnel, WebSocketSeen, read_trace

pytestmark = [pytest.mark.wire, pytest.mark.slow]


@pytest.mark.parametrize("rule", ["expired", "tls-cut"])
def test_tls_fails(shop: Shop, rule: str) -> None:
    host = {"expired": "expired", "tls-cut": "cut"}[rule]
    with pytest.raises((httpx.ConnectError, httpx.ReadError), match=r"expired|EOF|reset|closed"):
        shop.client.get(f"https://{host}.example/")
    shop.delivered(rule)


def test_a_websocket_is_recorded(
    shop: Shop, ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    tls = trusting(ca.certificate)
    with (
        echo_site(server_context(*leaf, ["http/1.1"])) as port,
        connect(f"wss://localhost:{port}/", proxy=shop.dump.url, ssl=tls) as channel,
    ):
        channel.send("hello")
        assert channel.recv() == "hello"
    wait_until(lambda: "closed" in [it.what for it in shop.events(WebSocketSeen)])
    seen = [(it.what, it.from_client, it.size) for it in shop.events(WebSocketSeen)]
    assert seen[:2] == [("message", True, 5), ("message", False, 5)]


def test_what_is_not_http_passes_and_is_counted(shop: Shop) -> None:
    sent, answer = b"\x00\x01hello\r\n\r\n", b"\x02bye"
    with RawSite() as site:
        site.expects(answer)
        with tunnelled(shop.dump.port, "127.0.0.1", site.port) as client:
            client.sendall(sent)
            assert read_for(client, len(answer)) == answer
        wait_until(lambda: site.port in [it.port for it in shop.events(Tunnel)])
    (tunnel,) = (it for it in shop.events(Tunnel) if it.port == site.port)
    assert (tunnel.why, tunnel.sent, tunnel.received) == ("not_http", len(sent), len(answer))


def test_a_client_that_does_not_trust_the_certificate_is_passed_on(
    shop: Shop, leaf: tuple[Path, Path]
) -> None:
    with served(server_context(*leaf, ["http/1.1"])) as other:
        host = "127.0.0.1"
        context = ssl.create_default_context()
        with (
            tunnelled(shop.dump.port, host, other.port) as raw,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            context.wrap_socket(raw, server_hostname=host)
        wait_until(lambda: host in [it.host for it in shop.events(TlsRejected)])
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with (
            tunnelled(shop.dump.port, host, other.port) as raw,
            context.wrap_socket(raw, server_hostname=host) as client,
        ):
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            assert read_until_closed(client).endswith(b"hello")
        wait_until(lambda: other.port in [it.port for it in shop.events(Tunnel)])
    assert [it.why for it in shop.events(Tunnel) if it.port == other.port] == ["tls_rejected"]


def test_a_dead_site_fails_before_the_handshake_without_a_rule_for_it(
    ca: CertificateAuthority, leaf: tuple[Path, Path], tmp_path: Path
) -> None:
    port = reserved_port()
    with (
        served(server_context(*leaf, ["http/1.1"])) as distrusted,
        mitmdump(tmp_path, conf=ca.folder, out="out") as dump,
    ):
        for each in (port, distrusted.port):
            raw = tunnelled(dump.port, "localhost", each)
            with raw, pytest.raises(ConnectionResetError):
                shake_hands(raw, "localhost", ca)
        assert "Traceback" not in dump.stop()
    events = list(read_trace(tmp_path / "out" / "events.jsonl").events(SiteUnreachable))
    assert [(it.exchange, it.port, it.failure) for it in events] == [
        (None, port, "connection_refused"),
        (None, distrusted.port, "tls_certificate_error"),
    ]
