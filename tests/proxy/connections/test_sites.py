"""Which site a client reaches, in which protocol, over which proxy; and where it is served."""

import socket
import ssl
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.engine.net.socks5_proxy import socks5_proxy
from tests.ports import reserved_port
from tests.proxy.support.client import H2Client, read_answer, secure
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, served, server_context
from tests.proxy.support.upstream import UpstreamProxy
from warex.errors import InputError
from warex.faults import ConnectionFault
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.connection.connection_timeout import ConnectionTimeout
from warex.faults.connection.dns_failure import DnsFailure
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.scenarios import Trigger
from warex.traces import RequestSeen, ResponseSeen, SiteUnreachable

pytestmark = pytest.mark.wire


def test_http2_passes_untouched(begin: Begin, ca: CertificateAuthority, secure_h2: Origin) -> None:
    headers = [(b"x-a", b"1"), (b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]
    body = bytes(range(256)) * 1024
    secure_h2.routes["/a?b=%20"] = Answer(headers=headers, body=body, trailers=[(b"x-sum", b"1")])
    with (
        begin() as lane,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, f"localhost:{secure_h2.port}")
        got = client.wait(client.ask("/a?b=%20", "POST", b"x" * 1000, [("cookie", "a=b")]))
    assert got.headers == [(b":status", b"200"), *headers]
    assert got.body == body
    assert got.trailers == [(b"x-sum", b"1")]
    assert secure_h2.seen[0].body == b"x" * 1000
    assert secure_h2.seen[0].headers == [(b"cookie", b"a=b")]
    assert lane.events(RequestSeen)[0].http_version == "HTTP/2.0"


@pytest.mark.parametrize(
    ("site", "offered", "protocol"),
    [
        ("secure_h1", ["h2", "http/1.1"], "http/1.1"),
        ("secure_h2", ["http/1.1", "h2"], "h2"),
        ("secure_h2", ["h2", "http/1.1"], "h2"),
        ("secure_h2", ["http/1.1"], "http/1.1"),
        ("secure_h2", [], None),
    ],
)
def test_the_site_chooses_the_protocol(
    begin: Begin,
    ca: CertificateAuthority,
    request: pytest.FixtureRequest,
    site: str,
    offered: list[str],
    protocol: str | None,
) -> None:
    origin: Origin = request.getfixturevalue(site)
    with (
        begin() as lane,
        secure(lane.port, "localhost", origin.port, ca.certificate, *offered) as connection,
    ):
        assert connection.selected_alpn_protocol() == protocol
        # With TLS 1.3 the client is through before the site is.
        wait_until(lambda: origin.alpn == [protocol])


def test_many_requests_of_one_connection_reach_a_mapped_site(
    begin: Begin, ca: CertificateAuthority, plain: Origin
) -> None:
    mapped = f"https://shop.example=http://127.0.0.1:{plain.port}"
    before = plain.connections
    with (
        begin(maps=(mapped,)) as lane,
        secure(lane.port, "shop.example", 443, ca.certificate, "h2", "http/1.1") as connection,
    ):
        assert connection.selected_alpn_protocol() == "http/1.1"
        for number in range(25):
            connection.sendall(f"GET /{number} HTTP/1.1\r\nHost: shop.example\r\n\r\n".encode())
            assert read_answer(connection)[1] == b"hello"
    assert plain.paths == [f"/{number}" for number in range(25)]
    assert plain.seen[0].head == b"GET /0 HTTP/1.1\r\nHost: shop.example\r\n\r\n"
    assert plain.connections == before + 1
    assert lane.events(RequestSeen)[3].url == "https://shop.example/3"


def test_a_client_that_speaks_only_http2_reaches_a_mapped_site(
    begin: Begin, ca: CertificateAuthority, plain: Origin
) -> None:
    mapped = f"https://shop.example=http://127.0.0.1:{plain.port}"
    with (
        begin(maps=(mapped,)) as lane,
        secure(lane.port, "shop.example", 443, ca.certificate, "h2") as connection,
    ):
        assert connection.selected_alpn_protocol() == "h2"
        client = H2Client(connection, "shop.example")
        for number in range(25):
            assert client.wait(client.ask(f"/{number}")).body == b"hello"
    assert lane.events(RequestSeen)[24].url == "https://shop.example/24"


def test_a_site_is_mapped_to_one_that_speaks_tls(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    mapped = (
        f"https://shop.example=https://localhost:{secure_h1.port}",
        f"http://shop.example=https://localhost:{secure_h1.port}",
    )
    with begin(maps=mapped) as lane, httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client:
        assert client.get("https://shop.example/a").text == "hello"
        assert client.get("http://shop.example/b").text == "hello"
    assert secure_h1.paths == ["/a", "/b"]
    assert [event.url for event in lane.events(RequestSeen)] == [
        "https://shop.example/a",
        "http://shop.example/b",
    ]


@pytest.mark.parametrize(
    ("credentials", "host"), [("", "127.0.0.1"), ("me:p%40ss@", "127.0.0.1"), ("me:p%40ss@", "::1")]
)
def test_everything_goes_through_an_upstream_proxy(
    begin: Begin,
    ca: CertificateAuthority,
    plain: Origin,
    secure_h2: Origin,
    credentials: str,
    host: str,
) -> None:
    spelled = f"[{host}]" if ":" in host else host
    with (
        UpstreamProxy(password="me:p@ss" if credentials else None, host=host) as upstream,
        begin(upstream=f"http://{credentials}{spelled}:{upstream.port}") as lane,
        httpx.Client(proxy=lane.url, verify=_trusting(ca), http2=True) as client,
    ):
        assert client.get(f"https://localhost:{secure_h2.port}/a").text == "hello"
        assert client.get(f"http://localhost:{plain.port}/b").text == "hello"
    assert upstream.asked == [
        f"CONNECT localhost:{secure_h2.port}",
        f"GET http://localhost:{plain.port}/b",
    ]
    assert secure_h2.seen[0].header("proxy-authorization") is None


@pytest.mark.parametrize("credentials", ["", "me:p%40ss@"])
def test_everything_goes_through_a_socks5_proxy(
    begin: Begin, ca: CertificateAuthority, plain: Origin, secure_h2: Origin, credentials: str
) -> None:
    user, password = ("me", "p@ss") if credentials else (None, "")
    with (
        socks5_proxy(user, password) as (port, asked),
        begin(upstream=f"socks5://{credentials}127.0.0.1:{port}") as lane,
        httpx.Client(proxy=lane.url, verify=_trusting(ca), http2=True) as client,
    ):
        assert client.get(f"https://localhost:{secure_h2.port}/a").text == "hello"
        assert client.get(f"http://localhost:{plain.port}/b").text == "hello"
    assert asked == ["localhost", "localhost"]


def test_a_mapped_site_is_reached_directly_beside_an_upstream_proxy(
    begin: Begin, ca: CertificateAuthority, plain: Origin
) -> None:
    other = f"http://localhost:{plain.port}/other"
    maps = (
        f"https://shop.example=http://127.0.0.1:{plain.port}",
        f"http://shop.example=http://127.0.0.1:{plain.port}",
    )
    with UpstreamProxy(password="me:pass") as upstream:
        address = f"http://me:pass@127.0.0.1:{upstream.port}"
        with begin(upstream=address, maps=maps) as lane:
            with httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client:
                assert client.get("https://shop.example/a").text == "hello"
            with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as connection:
                # The same connection goes on to a host that is not mapped.
                for url in ("http://shop.example/b", other):
                    host = urlsplit(url).netloc
                    connection.sendall(f"GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    assert read_answer(connection)[1] == b"hello"
    assert upstream.asked == [f"GET {other}"]
    assert [seen.target for seen in plain.seen[:2]] == ["/a", "/b"]
    assert all(seen.header("proxy-authorization") is None for seen in plain.seen[:2])


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_a_dead_upstream_proxy_is_a_dead_connection_and_a_notice(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin, host: str
) -> None:
    dead = reserved_port()
    with (
        begin(upstream=f"http://me:word@{host}:{dead}") as lane,
        httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client,
    ):
        with pytest.raises(httpx.ProxyError, match="502"):
            client.get(f"https://localhost:{secure_h1.port}/a")
        with pytest.raises(httpx.RemoteProtocolError):
            client.get("http://shop.example/a")
    assert len(lane.notices) == 2
    assert f"https://localhost:{secure_h1.port} cannot be reached" in lane.notices[0]
    assert f"the upstream proxy is {host}:{dead})" in lane.notices[0]
    failures = [(it.exchange, it.failure) for it in lane.events(SiteUnreachable)]
    assert failures == [(None, "destination_unavailable"), ("x1", "destination_unavailable")]
    assert [event.by for event in lane.events(ResponseSeen)] == ["none"]


def test_a_dead_site_is_a_dead_connection_and_a_notice(
    begin: Begin, ca: CertificateAuthority
) -> None:
    dead = reserved_port()
    with begin() as lane, httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client:
        with pytest.raises(httpx.ProxyError, match="502 Bad Gateway"):
            client.get(f"https://localhost:{dead}/a")
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"http://localhost:{dead}/a")
    assert [f"https://localhost:{dead}" in lane.notices[0], len(lane.notices)] == [True, 2]
    assert lane.proxy.broken is None
    assert [event.status for event in lane.events(ResponseSeen)] == [None]
    seen = [(it.exchange, it.port, it.failure) for it in lane.events(SiteUnreachable)]
    assert seen == [(None, dead, "connection_refused"), ("x1", dead, "connection_refused")]


def test_a_dead_site_fails_the_request_that_no_rule_answers(
    begin: Begin, ca: CertificateAuthority
) -> None:
    dead = reserved_port()
    rule = scenario(HttpError(), Trigger(first=1))
    with (
        begin(scenario=rule) as lane,
        httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client,
    ):
        assert client.get(f"https://localhost:{dead}/a").status_code == 500
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"https://localhost:{dead}/a")
    assert [event.by for event in lane.events(ResponseSeen)] == ["warex", "none"]
    assert [event.exchange for event in lane.events(SiteUnreachable)] == ["x2"]


def test_the_next_request_notices_a_site_that_died_on_a_kept_connection(
    begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    tls = server_context(*ca.leaf("localhost", tmp_path), ["http/1.1"])
    with begin() as lane, httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client:
        with served(tls) as site:
            url = f"https://localhost:{site.port}/a"
            assert client.get(url).text == "hello"
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(url)
        with pytest.raises(httpx.ProxyError, match="502"):
            client.get(url)
    assert [event.status for event in lane.events(ResponseSeen)] == [200, None]
    assert [event.exchange for event in lane.events(SiteUnreachable)] == ["x2", None]


def test_a_strangers_certificate_is_refused_unless_insecure(
    begin: Begin, ca: CertificateAuthority, tmp_path: Path
) -> None:
    stranger = ensure_ca(tmp_path / "stranger")
    context = server_context(*stranger.leaf("localhost", tmp_path), ["http/1.1"])
    with served(context) as site:
        url = f"https://localhost:{site.port}/a"
        with (
            begin() as lane,
            httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client,
            pytest.raises(httpx.ConnectError),
        ):
            client.get(url)
        assert site.paths == []
        assert [it.failure for it in lane.events(SiteUnreachable)] == ["tls_certificate_error"]
        assert "--insecure" in lane.notices[0]
        assert "certificate" in lane.notices[0].lower()
        with (
            begin(insecure=True) as lane,
            httpx.Client(proxy=lane.url, verify=_trusting(ca)) as client,
        ):
            assert client.get(url).text == "hello"


def test_a_port_in_use_is_named_and_leaves_no_trace_behind(begin: Begin, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError) as refused, begin(port=port):
            pass
        assert str(refused.value) == (
            f"port {port} on 127.0.0.1 is not available: Address already in use; give another one,"
            " or 0 for any that is free"
        )
        with (
            pytest.raises(InputError, match=f"control port {port} .*in use"),
            begin(control_port=port),
        ):
            pass
    assert list(tmp_path.glob("out-*/events.jsonl")) == []
    with begin(port=port) as lane:
        assert lane.port == port


def test_the_proxy_listens_on_loopback_only(begin: Begin) -> None:
    with begin() as lane:
        listening = _listening(lane.proxy.port) + _listening(lane.proxy.control_port)
    assert listening == ["127.0.0.1", "127.0.0.1"]


def _listening(port: int) -> list[str]:
    """Addresses on which a port of this machine listens, from the kernel (IPv4 and IPv6)."""
    results = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            address, _, number = local.partition(":")
            if state == "0A" and int(number, 16) == port:
                raw = bytes.fromhex(address)[::-1]
                results.append(socket.inet_ntoa(raw) if len(raw) == 4 else address)
    return results


def _trusting(ca: CertificateAuthority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(ca.certificate))


@pytest.mark.parametrize("fault", [ConnectionRefused(), ConnectionTimeout(), DnsFailure()])
@pytest.mark.parametrize("capture", ["forward", "transparent"])
def test_a_fault_that_cannot_show_is_refused_before_anything_starts(
    fault: ConnectionFault, capture: str, begin: Begin, tmp_path: Path
) -> None:
    with (
        pytest.raises(InputError, match=r"rule 'rule' .* cannot show here.*--isolate namespace"),
        begin(scenario=scenario(fault), capture=capture),
    ):
        pass
    assert list(tmp_path.rglob("events.jsonl")) == []
