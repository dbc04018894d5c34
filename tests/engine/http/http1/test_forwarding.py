"""What of a request goes on to the next hop."""

import pytest

from warex.engine.http.heads import RequestHead
from warex.engine.http.http1.forwarding import to_proxy, to_site
from warex.engine.http.http1.request_head import parse_request


def parse(raw: bytes, authority: str | None = None) -> RequestHead:
    return parse_request(raw, "http", authority)


def test_a_request_to_a_proxy_goes_to_its_site_in_origin_form() -> None:
    raw = (
        b"POST http://a.example:81/b?c HTTP/1.1\r\nX:  y\r\nhost: other\r\n"
        b"Proxy-Connection: keep-alive\r\nproxy-authorization: Basic x\r\nZ: 1\r\n\r\n"
    )
    head = to_site(parse(raw))
    assert head.raw == b"POST /b?c HTTP/1.1\r\nHost: a.example:81\r\nX:  y\r\nZ: 1\r\n\r\n"
    assert head.headers.get_all("host") == ["a.example:81"]
    assert head == parse(head.raw)


def test_a_host_that_is_the_urls_stays_where_it_is() -> None:
    raw = b"GET HTTP://a/ HTTP/1.0\r\nX:y\r\nhost:a\r\n\r\n"
    assert to_site(parse(raw)).raw == b"GET / HTTP/1.0\r\nX:y\r\nhost:a\r\n\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\nHost: other\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost:  a\r\n\r\n",
    ],
)
def test_a_request_in_a_tunnel_goes_on_as_it_came(raw: bytes) -> None:
    head = parse(raw, "a:1")
    assert to_site(head) is head


def test_an_upgrade_to_h2c_is_not_asked_for() -> None:
    head = parse(
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\n"
        b"Upgrade: h2c\r\nHTTP2-Settings: AAM\r\n\r\n"
    )
    assert to_site(head).raw == b"GET / HTTP/1.1\r\nConnection: close\r\nHost: a\r\n\r\n"


def test_a_proxy_of_the_users_gets_the_url_and_its_password() -> None:
    head = parse(b"GET /b HTTP/1.1\r\nHost: a:81\r\nProxy-Authorization: ours\r\n\r\n")
    assert to_proxy(head, "Basic eA==").raw == (
        b"GET http://a:81/b HTTP/1.1\r\nProxy-Authorization: Basic eA==\r\nHost: a:81\r\n\r\n"
    )
    options = parse(b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
    assert to_proxy(options, None).raw.startswith(b"OPTIONS http://a HTTP/1.1\r\n")
