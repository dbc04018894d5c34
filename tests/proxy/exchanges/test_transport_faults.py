"""Answers that are slow, silent or cut within their body, over both versions of HTTP and TLS."""

import gzip
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock

import pytest
from h2.exceptions import FrameDataMissingError, ProtocolError

from tests.proxy.support.client import H2Client, secure
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.engine.http.encoding import decode
from warex.faults import Fault
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.transport.bandwidth import Bandwidth
from warex.faults.transport.latency import Latency
from warex.faults.transport.malformed_response import MalformedResponse
from warex.faults.transport.slow_body import SlowBody
from warex.faults.transport.stalled_body import StalledBody
from warex.faults.transport.truncated_body import TruncatedBody
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, ResponseSeen

pytestmark = pytest.mark.wire

BODY = bytes(range(250)) * 8
HEADERS = [(b"Content-Type", b"application/octet-stream")]
LENGTH = (b"Content-Length", b"%d" % len(BODY))
ANY = {"resource": ("document", "xhr", "other")}
DELIVERED = ("fault_delivered", None)


class Met:
    """What a client met of one answer, as it came."""

    def __init__(self) -> None:
        self.head, self.body, self.end = b"", b"", ""
        self.began = time.monotonic()
        self.times: list[tuple[float, int]] = []
        """Seconds at which so many bytes of the body were there."""

    def note(self, body: bytes) -> None:
        if len(body) > len(self.body):
            self.body = body
            self.times.append((time.monotonic() - self.began, len(body)))


type Ask = Callable[..., Met]


@contextmanager
def client(lane: Lane, origin: Origin, ca: CertificateAuthority, version: str) -> Iterator[Ask]:
    """Ask over one TLS connection; over HTTP/1.1 it may end with the answer."""
    protocols = ["h2"] if version == "h2" else []
    with secure(lane.port, "localhost", origin.port, ca.certificate, *protocols) as connection:
        connection.settimeout(10)
        http2 = H2Client(connection, f"localhost:{origin.port}") if version == "h2" else None

        def ask1(path: str, until: int | None, body: bytes) -> Met:
            met, data = Met(), b""
            method = "POST" if body else "GET"
            fields = f"Host: x\r\nContent-Length: {len(body)}" if body else "Host: x"
            connection.sendall(f"{method} {path} HTTP/1.1\r\n{fields}\r\n\r\n".encode() + body)
            try:
                while piece := connection.recv(65536):
                    data += piece
                    met.head, _, rest = data.partition(b"\r\n\r\n")
                    met.note(rest)
                    if until is not None and len(rest) >= until:
                        return met
                # `ssl` of Python 3.12.1 reports a reset as an end of file.
                met.end = "closed" if sys.version_info >= (3, 13) else mock.ANY
            except ConnectionResetError:
                met.end = "reset"
            return met

        def ask2(path: str, until: int | None, body: bytes) -> Met:
            assert http2 is not None
            met = Met()
            stream = http2.ask(path, "POST" if body else "GET", body)
            got = http2.streams[stream]

            def happened() -> bool:
                met.note(got.body)
                enough = until is not None and bool(got.headers) and len(got.body) >= until
                return enough or got.ended or got.reset is not None

            try:
                http2.read_until(happened, stream)
                met.end = "complete" if got.ended else "closed"
            except ConnectionResetError:
                met.end = "reset"
            met.head = b"head" if got.headers else b""
            return met

        def ask(path: str = "/a", until: int | None = None, body: bytes = b"") -> Met:
            return (ask2 if version == "h2" else ask1)(path, until, body)

        yield ask


def settled(lane: Lane) -> list[tuple[str, str | None]]:
    wait_until(lambda: len(lane.proxy.call("GET", "/ledger")) >= 2)
    ledger = lane.proxy.call("GET", "/ledger")
    return [(it["event"], it.get("reason")) for it in ledger if it["event"] != "fault_planned"]


@pytest.fixture(params=["h1", pytest.param("h2", marks=pytest.mark.slow)])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def site(version: str, secure_h1: Origin, secure_h2: Origin) -> Origin:
    origin = secure_h2 if version == "h2" else secure_h1
    origin.routes["/a"] = Answer(headers=[*HEADERS, LENGTH], body=BODY)
    return origin


type Meet = Callable[..., tuple[Met, list[tuple[str, str | None]]]]


@pytest.fixture
def meet(begin: Begin, site: Origin, ca: CertificateAuthority, version: str) -> Meet:
    def met(fault: Fault, **how: Any) -> tuple[Met, list[tuple[str, str | None]]]:
        with (
            begin(scenario=scenario(fault, match=ANY)) as lane,
            client(lane, site, ca, version) as ask,
        ):
            return ask(**how), settled(lane)

    return met


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_body_is_cut_at_its_byte(meet: Meet, version: str, how: Any) -> None:
    met, ledger = meet(TruncatedBody(after_bytes=777, how=how))
    assert (met.body, met.end) == (BODY[:777], "closed" if how == "close" else "reset")
    if version == "h1":
        assert b"Content-Length: 2000" in met.head
    assert ledger == [DELIVERED]


def test_a_body_that_ends_early_in_good_order_says_its_length(
    meet: Meet, site: Origin, version: str
) -> None:
    packed = gzip.compress(BODY)
    coded = [*HEADERS, (b"Content-Encoding", b"gzip"), (b"Content-Length", b"%d" % len(packed))]
    site.routes["/a"] = Answer(headers=coded, body=packed)
    met, ledger = meet(TruncatedBody(share=0.25, how="clean"), until=500)
    assert met.body == BODY[:500]
    if version == "h1":
        assert b"content-length: 500" in met.head.lower()
        assert b"content-encoding" not in met.head.lower()
    assert ledger == [DELIVERED]


def test_a_body_that_is_not_longer_is_not_cut(meet: Meet) -> None:
    met, ledger = meet(TruncatedBody(after_bytes=2000), until=2000)
    assert (met.body, ledger) == (BODY, [("fault_missed", "nothing_to_rewrite")])


def test_a_body_of_unknown_length_is_cut_as_it_comes(
    begin: Begin, secure_h1: Origin, ca: CertificateAuthority
) -> None:
    async def endless(seen: Any, reader: Any, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        with suppress(ConnectionError):
            await reader.read()

    secure_h1.routes["/a"] = endless
    fault = TruncatedBody(after_bytes=3)
    with (
        begin(scenario=scenario(fault, match=ANY)) as lane,
        client(lane, secure_h1, ca, "h1") as ask,
    ):
        met = ask()
        assert (met.body, met.end, settled(lane)) == (b"3\r\nfir\r\n", "closed", [DELIVERED])


def test_a_body_falls_silent_and_goes_on(meet: Meet) -> None:
    met, ledger = meet(StalledBody(after_bytes=500, stall=0.3), until=2000)
    (before, size), *_, (after, _) = met.times
    assert (met.body, size) == (BODY, 500)
    assert after - before > 0.25
    assert ledger == [DELIVERED]


@pytest.mark.parametrize("then", ["close", "reset"])
def test_a_silence_may_end_the_connection(meet: Meet, then: Any) -> None:
    met, ledger = meet(StalledBody(share=0.5, stall=0.3, then=then))
    assert (met.body, met.end) == (BODY[:1000], "closed" if then == "close" else "reset")
    assert time.monotonic() - met.began > 0.3
    assert ledger == [DELIVERED]


def test_a_silence_for_good_is_delivered_once_the_client_has_waited(
    begin: Begin, site: Origin, ca: CertificateAuthority, version: str
) -> None:
    fault = StalledBody(then="never")
    with (
        begin(scenario=scenario(fault, match=ANY)) as lane,
        client(lane, site, ca, version) as ask,
    ):
        assert ask(until=1000).body == BODY[:1000]
        assert settled(lane) == [DELIVERED]
    (answer,) = lane.events(ResponseSeen)
    assert answer.status == 200


def test_leaving_a_silence_immediately_is_a_miss(
    begin: Begin, site: Origin, ca: CertificateAuthority, version: str
) -> None:
    fault = StalledBody(then="never")
    with begin(scenario=scenario(fault, match=ANY)) as lane:
        with client(lane, site, ca, version) as ask:
            assert ask(until=1000).body == BODY[:1000]
        ((event, reason),) = settled(lane)
        assert (event, reason) in (("fault_missed", "client_gone"), ("fault_missed", "client_left"))


@pytest.mark.parametrize("division", [{"pieces": 4}, {"piece_bytes": 500}])
def test_a_body_comes_in_pieces(meet: Meet, division: Any) -> None:
    met, ledger = meet(SlowBody(pause=0.1, **division), until=2000)
    assert [size for _, size in met.times] == [500, 1000, 1500, 2000]
    assert met.times[-1][0] - met.times[0][0] > 0.25
    assert (met.body, ledger) == (BODY, [DELIVERED])


def test_a_line_holds_its_rate_for_all_of_its_exchanges(meet: Meet) -> None:
    met, ledger = meet(Bandwidth(down=10_000), until=2000)
    assert (met.body, ledger) == (BODY, [DELIVERED])
    assert 0.19 <= met.times[-1][0] < 0.5
    assert len(met.times) > 5


def test_a_line_holds_its_rate_for_a_stream_of_events(meet: Meet, site: Origin) -> None:
    events = b"data: " + b"x" * 92 + b"\n\n"
    head = [(b"Content-Type", b"text/event-stream")]
    site.routes["/a"] = Answer(headers=head, body=events * 20)
    met, ledger = meet(Bandwidth(down=10_000), until=2000)
    assert (met.body, ledger) == (events * 20, [DELIVERED])
    assert 0.19 <= met.times[-1][0] < 0.5
    assert len(met.times) > 5


def test_a_request_is_held_for_as_long_as_its_body_takes(meet: Meet) -> None:
    met, ledger = meet(Bandwidth(up=10_000, burst=1000), body=b"x" * 3000, until=2000)
    assert (met.body, ledger) == (BODY, [DELIVERED])
    assert 0.19 <= met.times[0][0] < 0.5


def test_an_exchange_without_a_body_meets_no_line(meet: Meet, site: Origin) -> None:
    site.routes["/a"] = Answer(204, body=b"")
    _, ledger = meet(Bandwidth(down=10_000), until=0)
    assert ledger == [("fault_missed", "nothing_to_rewrite")]


@pytest.mark.parametrize("stage", ["request", "response"])
def test_an_exchange_is_late_and_nothing_else(meet: Meet, stage: Any) -> None:
    met, ledger = meet(Latency(delay=0.2, stage=stage), until=2000)
    assert (met.body, ledger) == (BODY, [DELIVERED])
    assert 0.2 <= met.times[0][0] < 0.6


def test_the_first_exchange_of_each_connection_is_late(
    begin: Begin, site: Origin, ca: CertificateAuthority, version: str
) -> None:
    with begin(scenario=scenario(Latency(delay=0.2, scope="connection"))) as lane:
        for _ in range(2):
            with client(lane, site, ca, version) as ask:
                first, second = ask(until=2000), ask(until=2000)
            assert first.times[0][0] > 0.2 > second.times[0][0]
    wait_until(lambda: len(lane.events(ResponseSeen)) == 4)


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_is_cut_within_the_head(meet: Meet, version: str, how: Any) -> None:
    met, ledger = meet(ConnectionCut(how=how, after_bytes=12, part="head"))
    assert met.head + met.body == (b"HTTP/1.1 200" if version == "h1" else b"")
    assert met.end == ("closed" if how == "close" else "reset")
    assert ledger == [DELIVERED]


def test_a_connection_is_cut_within_the_body(meet: Meet) -> None:
    met, ledger = meet(ConnectionCut(after_bytes=9))
    assert (met.body, met.end, ledger) == (BODY[:9], "reset", [DELIVERED])


MALFORMED: dict[str, tuple[bytes, bytes]] = {
    "status_line": (b"HTTP/1.1 2\x000 OK\r\n", BODY),
    "header": (b"\r\nCache-Status hit\r\n", BODY),
    "two_lengths": (b"\r\ncontent-length: 2001\r\n", BODY),
    "length": (b"\r\ncontent-length: 4000\r\n", BODY),
    "chunk": (b"\r\ntransfer-encoding: chunked\r\n", b"3e8\r\n" + BODY[:1000] + b"\r\n2o\r\n"),
}
"""What an answer of HTTP/1.1 has in its head, and all that follows the head."""


def test_an_answer_has_the_defect_of_its_rule_and_no_other(
    begin: Begin, secure_h1: Origin, ca: CertificateAuthority
) -> None:
    rules = [
        Rule(
            name=defect,
            match=Match(url=f"*/{defect}", resource=("document", "xhr", "other")),
            trigger=Trigger(always=True),
            fault=MalformedResponse.model_validate({"defect": defect}),
        )
        for defect in (*MALFORMED, "frame", "coding")
    ]
    scenario = Scenario(name="malformed", rules=tuple(rules))
    for defect in (*MALFORMED, "frame", "coding"):
        secure_h1.routes[f"/{defect}"] = Answer(headers=[*HEADERS, LENGTH], body=BODY)
    with begin(scenario=scenario) as lane:
        for defect, (line, rest) in MALFORMED.items():
            with client(lane, secure_h1, ca, "h1") as ask:
                met = ask(f"/{defect}", len(rest) if defect == "header" else None)
            head = met.head + b"\r\n"
            assert line in head, defect
            assert (b"2o0" in head, met.body) == (False, rest), defect
        with client(lane, secure_h1, ca, "h1") as ask:
            assert ask("/frame", 2000).body == BODY
            met = ask("/coding", 1)
            assert decode(met.body, "gzip").error is not None
        wait_until(lambda: len(lane.events(ResponseSeen)) == len(rules))
        missed = lane.events(FaultMissed)
        assert [(it.rule, it.reason) for it in missed] == [("frame", "nothing_to_rewrite")]
        assert {it.rule for it in lane.events(FaultDelivered)} == {*MALFORMED, "coding"}


@pytest.mark.slow
@pytest.mark.parametrize("defect", ["status_line", "chunk", "frame", "header"])
def test_a_client_of_http2_meets_a_defect_of_http2(
    begin: Begin, secure_h2: Origin, ca: CertificateAuthority, defect: Any
) -> None:
    secure_h2.routes["/a"] = Answer(headers=[*HEADERS, LENGTH], body=BODY)
    fault = MalformedResponse(defect=defect)
    with (
        begin(scenario=scenario(fault, match=ANY)) as lane,
        client(lane, secure_h2, ca, "h2") as ask,
    ):
        if defect == "header":
            assert ask(until=2000).body == BODY
            assert settled(lane) == [("fault_missed", "nothing_to_rewrite")]
            return
        expected = FrameDataMissingError if defect == "frame" else ProtocolError
        with pytest.raises(expected):
            ask()
        assert settled(lane) == [DELIVERED]
