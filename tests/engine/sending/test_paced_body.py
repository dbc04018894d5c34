"""A body leaves as its plan says, and what it has met on the way is told."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.engine.running import Running, Scripted, running, wait_until
from tests.proxy.support.client import H2Client, secure
from tests.proxy.support.origin import Answer, Origin
from warex.engine.handler import Exchange, Outcome, Pace, Plan, Relay, Respond, Stop
from warex.engine.http.byte_rate import ByteRate
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

BODY = bytes(range(200)) * 5


@dataclass(slots=True)
class Paced(Scripted):
    """Relays with a pace, and keeps the stops."""

    pace: Pace = field(default_factory=Pace)
    reached: list[Stop] = field(default_factory=list)

    def response(self, exchange: Exchange) -> Plan[Relay]:
        return Plan(Relay(pace=self.pace))

    def stopped(self, exchange: Exchange, stop: Stop) -> None:
        self.reached.append(stop)


@contextmanager
def client_of(engine: Running, site: Origin, ca: CertificateAuthority) -> Iterator[H2Client]:
    with secure(engine.port, "localhost", site.port, ca.certificate, "h2") as connection:
        yield H2Client(connection, f"localhost:{site.port}")


def over_h2(pace: Pace, ca: CertificateAuthority, site: Origin, size: int) -> Outcome:
    """Ask until ``size`` bytes of the body are there, over HTTP/2; return the outcome."""
    site.routes["/a"] = Answer(body=BODY)
    handler = Paced(pace=pace)
    with running(handler, ca) as engine, client_of(engine, site, ca) as client:
        stream = client.ask("/a")
        got = client.streams[stream]
        client.read_until(lambda: len(got.body) >= size, stream)
        assert got.body == BODY[:size]
        return handler.outcome()


def test_a_stop_is_reported_before_the_cut(ca: CertificateAuthority, secure_h2: Origin) -> None:
    stops = (Stop(10, 0.05), Stop(500, 0.05, "close"))
    outcome = over_h2(Pace(stops=stops), ca, secure_h2, 500)
    assert (outcome.end, outcome.stops, outcome.response_bytes) == ("aborted", 2, 500)
    assert outcome.arrived
    assert outcome.held_s >= 0.1


def test_a_stop_behind_the_body_is_not_reached(ca: CertificateAuthority, secure_h2: Origin) -> None:
    outcome = over_h2(Pace(stops=(Stop(5000, 9, "close"),)), ca, secure_h2, len(BODY))
    assert (outcome.end, outcome.stops, outcome.arrived) == ("complete", 0, True)


def test_endless_silence_is_reported_at_its_start(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    secure_h2.routes["/a"] = Answer(body=BODY)
    silence = Stop(300, math.inf, "close")
    handler = Paced(pace=Pace(stops=(silence,)))
    with running(handler, ca) as engine:
        with client_of(engine, secure_h2, ca) as client:
            stream = client.ask("/a")
            got = client.streams[stream]
            client.read_until(lambda: len(got.body) == 300, stream)
            wait_until(lambda: handler.reached == [silence])
            assert handler.outcomes == []
        outcome = handler.outcome()
    assert (outcome.end, outcome.left_while_held, outcome.stops) == ("client_left", True, 1)


def test_a_stop_waits_for_flow_control(ca: CertificateAuthority, secure_h2: Origin) -> None:
    secure_h2.routes["/a"] = Answer(body=BODY)
    handler = Paced(pace=Pace(stops=(Stop(300, 0, "close"),)))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, f"localhost:{secure_h2.port}", 299)
        stream = client.ask("/a")
        got = client.streams[stream]
        client.read_until(lambda: len(got.body) == 299, stream)
        assert (handler.reached, handler.outcomes) == ([], [])
        client.conn.increment_flow_control_window(1, stream)
        client.flush()
        client.read_until(lambda: got.reset is not None, stream)
        assert handler.outcome().arrived


def test_answers_of_our_own_have_a_pace_too(ca: CertificateAuthority, secure_h2: Origin) -> None:
    own = Respond(500, Headers(), (BODY,), Pace(piece=250, pause_s=0.05))
    handler = Scripted(request_plan=lambda exchange: Plan(own))
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        assert client.wait(client.ask("/a")).body == BODY
        assert handler.outcome().held_s >= 0.15


@pytest.mark.slow
@pytest.mark.parametrize("rate", [10_000, 100_000, 1_000_000, 10_000_000])
def test_a_rate_is_held_within_five_percent(
    ca: CertificateAuthority, secure_h1: Origin, rate: int
) -> None:
    body = bytes(2 * rate)
    secure_h1.routes["/a"] = Answer(body=body)
    handler = Paced(pace=Pace((ByteRate(rate),)))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(b"GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
        size, parts = 0, list[tuple[float, int]]()
        while size < len(body):
            size += len(client.recv(1 << 20))
            parts.append((time.monotonic(), size))
        handler.outcome()

    def most_punctual(some: list[tuple[float, int]]) -> tuple[float, int]:
        """A busy machine makes a part late, and none early."""
        return min(some, key=lambda part: part[0] - part[1] / rate)

    # The first parts have the head, and what leaves at once with it.
    third = len(parts) // 3
    (began, before), (ended, after) = map(most_punctual, (parts[2:third], parts[-third:]))
    assert (after - before) / (ended - began) == pytest.approx(rate, rel=0.05)
