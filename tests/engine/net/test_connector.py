"""Sites are reached directly, or through an upstream proxy that may ask for a password."""

import socket
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.engine.net.socks5_proxy import socks5_proxy
from tests.engine.running import Scripted, running, shake_hands, wait_until
from tests.ports import reserved_port
from tests.proxy.support.client import read_answer, secure, trusting, tunnelled
from tests.proxy.support.origin import Origin, server_context
from tests.proxy.support.upstream import UpstreamProxy
from warex.engine.net.connector import proxy_authorization
from warex.proxy.certificates.ca import CertificateAuthority

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_credentials_are_decoded_from_the_url() -> None:
    assert proxy_authorization("http://proxy:8080") is None
    assert proxy_authorization("http://a%40b:c%2Fd@proxy") == "Basic YUBiOmMvZA=="


@pytest.mark.wire
@pytest.mark.parametrize("password", [None, "someone:se%2Fcret"])
def test_an_http_proxy_is_asked_for_a_tunnel(
    ca: CertificateAuthority, secure_h1: Origin, password: str | None
) -> None:
    wanted = None if password is None else "someone:se/cret"
    credentials = "" if password is None else f"{password}@"
    with UpstreamProxy(wanted) as proxy:
        upstream = f"http://{credentials}127.0.0.1:{proxy.port}"
        with (
            running(Scripted(), ca, upstream=upstream) as engine,
            secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
        ):
            client.sendall(GET)
            assert read_answer(client)[1] == b"hello"
    assert proxy.asked == [f"CONNECT localhost:{secure_h1.port}"]


@pytest.mark.wire
def test_an_http_proxy_may_send_informational_answers_first(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    first = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    with (
        UpstreamProxy(informational=first) as proxy,
        running(Scripted(), ca, upstream=f"http://127.0.0.1:{proxy.port}") as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(GET)
        assert read_answer(client)[1] == b"hello"


@pytest.mark.wire
@pytest.mark.parametrize("user", [None, "someone"])
def test_a_socks5_proxy_looks_the_host_up(
    ca: CertificateAuthority, secure_h1: Origin, user: str | None
) -> None:
    credentials = "" if user is None else f"{user}:se%2Fcret@"
    with socks5_proxy(user, "se/cret") as (port, asked):
        upstream = f"socks5://{credentials}127.0.0.1:{port}"
        with (
            running(Scripted(), ca, upstream=upstream) as engine,
            secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
        ):
            client.sendall(GET)
            assert read_answer(client)[1] == b"hello"
    assert asked == ["localhost"]


@pytest.mark.wire
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "none of our ways to authenticate"),
        ("someone:wrong@", "refused the user name or password"),
        ("someone:secret@", "the connection was refused"),
    ],
)
def test_what_a_socks5_proxy_refuses_is_reported(
    ca: CertificateAuthority, text: str, message: str
) -> None:
    handler = Scripted()
    with (
        socks5_proxy("someone", "secret") as (port, _),
        running(handler, ca, upstream=f"socks5://{text}127.0.0.1:{port}") as engine,
    ):
        raw = tunnelled(engine.port, "127.0.0.1", reserved_port())
        with raw, pytest.raises(OSError):  # noqa: PT011 - a reset, or an end
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.unreached)
    assert message in handler.unreached[0]


@pytest.mark.wire
def test_an_http_proxy_that_refuses_is_reported(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    handler = Scripted()
    with (
        UpstreamProxy("someone:secret") as proxy,
        running(handler, ca, upstream=f"http://127.0.0.1:{proxy.port}") as engine,
    ):
        raw = tunnelled(engine.port, "localhost", secure_h1.port)
        with raw, pytest.raises(OSError):  # noqa: PT011 - a reset, or an end
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.unreached)
    assert "407" in handler.unreached[0]


@pytest.mark.wire
def test_a_plain_request_goes_to_an_http_proxy_by_its_url(
    ca: CertificateAuthority, plain: Origin
) -> None:
    url = f"http://127.0.0.1:{plain.port}/a"
    with (
        UpstreamProxy("someone:secret") as proxy,
        running(Scripted(), ca, upstream=f"http://someone:secret@127.0.0.1:{proxy.port}") as engine,
        socket.create_connection(("127.0.0.1", engine.port), timeout=30) as client,
    ):
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert read_answer(client)[1] == b"hello"
    assert proxy.asked == [f"GET {url}"]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_site_of_ipv6_with_its_certificate_is_reached_through_a_proxy(
    ca: CertificateAuthority, tmp_path: Path, scheme: str
) -> None:
    tls = server_context(*ca.leaf("::1", tmp_path), ["h2", "http/1.1"])
    with closing(Origin(tls, host="::1")) as site, ExitStack() as stack:
        if scheme == "http":
            proxy = stack.enter_context(UpstreamProxy())
            port, asked = proxy.port, proxy.asked
        else:
            port, asked = stack.enter_context(socks5_proxy())
        engine = stack.enter_context(
            running(Scripted(), ca, upstream=f"{scheme}://127.0.0.1:{port}")
        )
        raw = stack.enter_context(tunnelled(engine.port, "[::1]", site.port))
        client = stack.enter_context(
            trusting(ca.certificate).wrap_socket(raw, server_hostname="::1")
        )
        client.sendall(f"GET / HTTP/1.1\r\nHost: [::1]:{site.port}\r\n\r\n".encode())
        assert read_answer(client)[1] == b"hello"
    assert asked == [f"CONNECT [::1]:{site.port}" if scheme == "http" else "::1"]


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["%lo", "%25lo"])
def test_an_address_with_a_zone_is_refused_since_no_url_has_one(
    ca: CertificateAuthority, zone: str
) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, pytest.raises(ConnectionError, match="400"):
        tunnelled(engine.port, f"[::1{zone}]", 80)
    assert [it.reason for it in handler.rejections] == ["the host has characters that no host has"]
