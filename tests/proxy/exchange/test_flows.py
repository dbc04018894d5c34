"""What is copied out of mitmproxy's flows."""

import httpx
import pytest
from mitmproxy import http
from mitmproxy.test import tflow, tutils

from tests.proxy.support.lanes import Begin
from tests.proxy.support.origin import Origin
from warex.proxy.exchange.flows import (
    BROWSER_URL,
    drop_hop_headers,
    header_dict,
    header_pairs,
    is_grpc,
    is_longer,
    map_remote,
    request_of,
    response_of,
    timings_of,
    url_of,
)
from warex.traces import RequestSeen
from warex.traffic import HostMap


def flow(**request: object) -> http.HTTPFlow:
    made = tflow.tflow(req=tutils.treq(**request), resp=True)
    made.server_conn.timestamp_start = None
    return made


def test_the_url_is_the_browsers_wherever_the_request_goes() -> None:
    sent = flow(host="shop.example", port=80, scheme=b"http", path=b"/a?b=c", headers=())
    assert url_of(sent) == "http://shop.example/a?b=c"
    sent.metadata[BROWSER_URL] = "https://shop.example/a?b=c"
    sent.request.data.host = "127.0.0.1"
    assert url_of(sent) == "https://shop.example/a?b=c"


def test_an_ipv6_address_stands_in_brackets() -> None:
    host = ((b"host", b"[2001:db8::7]:8080"),)
    for headers in (host, ()):
        sent = flow(host="2001:db8::7", port=8080, scheme=b"http", path=b"/a", headers=headers)
        assert url_of(sent) == "http://[2001:db8::7]:8080/a"
    map_remote(sent, HostMap.parse("http://[2001:db8::7]:8080=http://127.0.0.1:1"))
    assert url_of(sent) == "http://[2001:db8::7]:8080/a"


@pytest.mark.parametrize(
    ("version", "method", "headers", "longer"),
    [
        (b"HTTP/1.1", b"POST", ((b"content-length", b"10"),), False),
        (b"HTTP/1.1", b"POST", ((b"content-length", b"11"),), True),
        (b"HTTP/1.1", b"POST", ((b"transfer-encoding", b"chunked"),), True),
        (b"HTTP/1.1", b"POST", (), False),
        (b"HTTP/2.0", b"POST", (), True),
        (b"HTTP/2.0", b"GET", (), False),
    ],
)
def test_a_body_is_long_whose_end_nobody_knows(
    version: bytes, method: bytes, headers: tuple[tuple[bytes, bytes], ...], longer: bool
) -> None:
    sent = flow(http_version=version, method=method, headers=headers)
    assert is_longer(sent.request, 10) is longer


@pytest.mark.parametrize(
    ("kind", "grpc"),
    [(b"application/grpc", True), (b"application/grpc+proto", True), (b"application/json", False)],
)
def test_a_grpc_call_is_known_by_its_content_type(kind: bytes, grpc: bool) -> None:
    assert is_grpc(flow(headers=((b"content-type", kind),)).request) is grpc
    assert not is_grpc(flow(headers=()).request)


def test_what_concerns_the_next_hop_alone_goes_no_further() -> None:
    upgrade = [(b"Upgrade", b"h2c"), (b"HTTP2-Settings", b"AAA")]
    wishes = http.Headers([*upgrade, (b"Connection", b"Upgrade, HTTP2-Settings, close")])
    drop_hop_headers(wishes)
    assert wishes.fields == ((b"connection", b"close"),)
    channel = http.Headers([(b"Upgrade", b"websocket"), (b"Connection", b"Upgrade")])
    drop_hop_headers(channel)
    assert len(channel.fields) == 2


def test_headers_are_found_by_lower_case_name_and_repeats_are_joined() -> None:
    headers = http.Headers([(b"X-A", b"1"), (b"x-a", b"2"), (b"N\xe4me", b"\xff")])
    assert header_dict(headers) == {"x-a": "1, 2", "n\xe4me": "\xff"}


def test_two_bodies_are_told_apart_and_no_body_is_none() -> None:
    digests = {request_of(flow(content=body)).body_digest for body in (b"a", b"b", b"")}
    assert len(digests) == 3
    assert "" in digests
    assert request_of(flow(content=None)).body_digest == ""


def test_headers_keep_their_names_and_order() -> None:
    kept = header_pairs(http.Headers([(b"X-B", b"1"), (b"Cookie", b"id=4"), (b"x-b", b"2")]))
    assert kept == [("X-B", "1"), ("Cookie", "id=4"), ("x-b", "2")]


def test_an_exchange_without_an_answer_has_none() -> None:
    unanswered = flow()
    unanswered.response = None
    assert response_of(unanswered) is None
    assert timings_of(unanswered, unanswered.request.timestamp_start + 1).wait is None


@pytest.mark.parametrize(("opened", "connect", "tls"), [(1.0, 0.25, 0.5), (-1.0, None, None)])
def test_only_the_exchange_that_opened_a_connection_paid_for_it(
    opened: float, connect: float | None, tls: float | None
) -> None:
    timed = flow()
    assert timed.response is not None
    start = 1000.0
    timed.request.timestamp_start = start
    timed.request.timestamp_end = start + 0.5
    timed.response.timestamp_start = start + 2
    server = timed.server_conn
    server.timestamp_start = start + opened
    server.timestamp_tcp_setup = start + opened + 0.25
    server.timestamp_tls_setup = start + opened + 0.75
    timings = timings_of(timed, start + 3)
    assert (timings.connect, timings.tls) == (connect, tls)
    assert (timings.wait, timings.receive, timings.total) == (1.5, 1.0, 3.0)


def test_a_clock_that_was_set_back_makes_no_negative_times() -> None:
    timed = flow()
    assert timed.response is not None
    timed.request.timestamp_start = timed.request.timestamp_end = 1000.0
    timed.response.timestamp_start = 999.0
    timings = timings_of(timed, 998.0)
    assert (timings.wait, timings.receive, timings.total) == (0.0, 0.0, 0.0)


@pytest.mark.wire
def test_the_trace_tells_two_operations_of_one_url_apart(begin: Begin, plain: Origin) -> None:
    site = f"http://127.0.0.1:{plain.port}/graphql"

    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        client.post(site, json={"operationName": "Cart", "query": "query Cart { cart }"})
        client.post(site, json={"query": "mutation { placeOrder }"})
        client.get(site)

    operations = [seen.operation for seen in lane.events(RequestSeen)]
    assert operations == ["query Cart", "mutation placeOrder", ""]
