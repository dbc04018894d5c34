"""Requests that no site would take: a page as a site gives it, an event, and the trial goes on."""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from bench.fuzz.mutants_http import requests
from bench.fuzz.mutate import mutated

from tests.proxy.support.client import H2Client, secure, tunnelled
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Origin
from tests.proxy.support.raw_sockets import RawSite, read_to_end
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import FaultPlanned, HarnessBroke, RequestRefused, RequestSeen, ResponseSeen

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"


def says(lane: Lane, site: RawSite, sent: bytes, *, seconds: float = 5) -> bytes:
    """What a client is answered that sends this through a tunnel."""
    site.expects(ANSWER, closes=True)
    with tunnelled(lane.port, "localhost", site.port) as client:
        client.settimeout(seconds)
        with suppress(OSError):
            client.sendall(sent)
        return read_to_end(client)


@pytest.mark.wire
def test_an_odd_request_gets_a_page_as_of_a_site_and_an_event(begin: Begin) -> None:
    with begin() as lane, RawSite("localhost") as site:
        host = b"localhost:%d" % site.port
        odd = [
            (b"GET /a?token=s3cret HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "two Host lines"),
            (b"GET / HTTP/1.1\r\nHost: localhost:99999\r\n\r\n", "the port is above"),
            (b"GET / HTTP/1.1\r\nHost: u:p@a\r\n\r\n", "the host has characters"),
            (b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", "the host has characters"),
            (b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", "Invalid header line"),
            (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\na", "content-length"),
            (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", "xchunked"),
            (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", "chunk"),
            (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT leads out"),
            (b"GET / HTTP/1.1\r\nSec-WebSocket-Version: \xff\r\n\r\n", "WebSocket is no"),
        ]
        for sent, _ in odd:
            answer = says(lane, site, sent)
            assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), sent
            assert (b"warex" in answer.lower(), b"Server" in answer) == (False, False)
        assert says(lane, site, b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n") == ANSWER
        assert lane.proxy.broken is None
    refused = lane.events(RequestRefused)
    assert len(refused) == len(odd)
    for event, (_, why) in zip(refused, odd, strict=True):
        assert (event.status, why in event.reason) == (400, True), event
    assert refused[0].line == "GET /a?token=[redacted]"
    # The chunk was found to be none when the site had been asked.
    assert [event.method for event in lane.events(RequestSeen)] == ["POST", "GET"]


@pytest.mark.wire
@pytest.mark.parametrize("rules_are_about", ["/other", "/up"])
def test_an_unreadable_body_is_recorded_once_without_content(
    begin: Begin, rules_are_about: str
) -> None:
    sent = (
        b"POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"3\r\nabc\r\nmy horse is called Otto\r\n"
    )
    rule = scenario(HttpError(status=503), match={"url": f"*{rules_are_about}"})
    with begin(scenario=rule) as lane, RawSite("localhost") as site:
        assert says(lane, site, sent).startswith(b"HTTP/1.1 400 ")
        assert lane.proxy.broken is None
    (refused,) = lane.events(RequestRefused)
    begun = rules_are_about == "/other"
    assert [event.url.endswith("/up") for event in lane.events(RequestSeen)] == [True] * begun
    reasons = [refused.reason, *(event.error for event in lane.events(ResponseSeen))]
    assert reasons == ["HTTP/1 protocol error: illegal chunk header"] * (1 + begun)
    assert lane.events(FaultPlanned) == []
    assert "Otto" not in (lane.out / "events.jsonl").read_text()


@pytest.mark.wire
def test_a_request_without_a_site_gets_an_error_of_the_proxy(begin: Begin) -> None:
    with begin() as lane:
        for sent in (
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET ftp://a/ HTTP/1.1\r\n\r\n",
            b"CONNECT a HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
                client.sendall(sent)
                answer = read_to_end(client)
            assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n"), sent
        assert lane.proxy.broken is None
    assert len(lane.events(RequestRefused)) == 4


@pytest.mark.wire
def test_a_path_without_a_slash_is_refused_over_http2_too(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    port = secure_h2.port
    with begin() as lane, secure(lane.port, "localhost", port, ca.certificate, "h2") as connection:
        client = H2Client(connection, f"localhost:{port}")
        client.conn.config.validate_outbound_headers = False
        refused = [client.wait(client.ask(path)) for path in ("nowhere", "?a", "http://a/")]
        assert client.wait(client.ask("/a")).body == b"hello"
        assert lane.proxy.broken is None
    assert [(got.status, b"400 Bad Request" in got.body) for got in refused] == [(400, True)] * 3
    assert next(event.line for event in lane.events(RequestRefused)) == "GET nowhere"
    assert secure_h2.paths == ["/a"]


@pytest.mark.slow
@pytest.mark.wire
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_request_voids_a_trial_or_meets_anything_but_a_page(begin: Begin, seed: int) -> None:
    with begin() as lane, ThreadPoolExecutor(CLIENTS) as clients:

        def pages(client: int) -> int:
            count = 0
            with RawSite("localhost") as site:
                for name, usual in [*requests(b"localhost:%d" % site.port)][client::CLIENTS]:
                    sent = mutated(usual, seed) if seed else usual
                    answer = says(lane, site, sent, seconds=1)
                    assert lane.proxy.broken is None, (name, sent)
                    assert answer[:13] in ANSWERS, (name, answer)
                    count += answer[:13] in PAGES
            return count

        # Many of the requests get no answer, for which each client waits.
        total = sum(clients.map(pages, range(CLIENTS)))
    assert lane.events(HarnessBroke) == []
    assert len(lane.events(RequestRefused)) >= total > 50


CLIENTS = 8
PAGES = tuple(b"HTTP/1.1 %d " % status for status in (400, 431, 505))
ANSWERS = (b"", b"HTTP/1.1 100 ", b"HTTP/1.1 200 ", *PAGES)
