"""What ends an answer, or comes before it, arrives as what it was."""

import time
from collections.abc import Iterator

import pytest
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from hyperframe.frame import GoAwayFrame

from tests.proxy.support.http2_endings import answer, before, go_away, in_turn, reset
from tests.proxy.support.http2_ledger import Http2Lane
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.engine.http.http2.library import error_name
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.scenarios.injection.browser_retries import REPEAT_WINDOW
from warex.traces import FaultPlanned, RequestSeen, ResponseSeen

pytestmark = pytest.mark.wire


@pytest.fixture
def http2_lane(begin: Begin, ca: CertificateAuthority, secure_h2: Origin) -> Iterator[Http2Lane]:
    with begin() as lane:
        yield Http2Lane(lane, ca, secure_h2)
        assert lane.proxy.broken is None


# ---- streams


@pytest.mark.parametrize(
    "code",
    [
        ErrorCodes.REFUSED_STREAM,
        *(
            pytest.param(code, marks=pytest.mark.slow)
            for code in (*ErrorCodes, 0x77)
            if code is not ErrorCodes.REFUSED_STREAM
        ),
    ],
)
def test_a_reset_stream_keeps_its_reason(
    http2_lane: Http2Lane, secure_h2: Origin, code: int
) -> None:
    secure_h2.routes["/a"] = in_turn(reset(code), reset(code, midway=True))
    with http2_lane.client() as client:
        assert client.wait(client.ask("/a")).reset == code
        got = client.wait(client.ask("/a"))
        assert (got.status, got.body, got.reset) == (200, b"hel", code)
        assert client.wait(client.ask("/a")).body == b"hello"
    name = error_name(code)
    messages = [it.error for it in http2_lane.lane.events(ResponseSeen)]
    assert messages == [f"stream reset by the site ({name})"] * 2 + [None]


@pytest.mark.slow
@pytest.mark.parametrize("code", [ErrorCodes.CANCEL, ErrorCodes.ENHANCE_YOUR_CALM, 0x77])
def test_a_site_learns_why_the_client_gave_up(
    http2_lane: Http2Lane, secure_h2: Origin, code: int
) -> None:
    secure_h2.routes["/a"] = Answer(frames=lambda conn, stream: b"")
    with http2_lane.client() as client:
        stream = client.ask("/a")
        wait_until(lambda: "/a" in secure_h2.paths)
        client.give_up(stream, code)
        wait_until(lambda: secure_h2.resets == [code])
        assert client.wait(client.ask("/free")).body == b"hello"
    assert secure_h2.connections_of("/a", "/free") == 1


@pytest.mark.slow
def test_a_site_that_has_answered_may_want_no_more_of_the_request(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    """RFC 9113 §8.1: the whole answer, then NO_ERROR."""

    def frames(conn: H2Connection, stream: int) -> bytes:
        answer(conn, stream)
        conn.reset_stream(stream, ErrorCodes.NO_ERROR)
        return b""

    secure_h2.at_headers["/up"] = frames
    with http2_lane.client() as client:
        stream = client.conn.get_next_available_stream_id()
        client.ask("/up", "POST", headers=[("content-type", "application/grpc")], ends=False)
        got = client.wait(stream)
        assert (got.status, got.body) == (200, b"hello")
        assert client.wait(client.ask("/free")).body == b"hello"


def test_a_refused_request_and_the_browsers_repeat_are_one_occurrence(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    rule = scenario(HttpError(status=500, stage="response"), Trigger(nth=(2,)))
    took = REPEAT_WINDOW
    while took >= REPEAT_WINDOW:  # The machine was too busy to repeat as fast as a browser.
        secure_h2.routes["/a"] = in_turn(reset(ErrorCodes.REFUSED_STREAM))
        with (
            begin(scenario=rule) as lane,
            Http2Lane(lane, ca, secure_h2).client() as client,
        ):
            began = time.monotonic()
            assert client.wait(client.ask("/a")).reset == ErrorCodes.REFUSED_STREAM
            statuses = [client.wait(client.ask("/a")).status]
            took = time.monotonic() - began
            statuses.append(client.wait(client.ask("/a")).status)
    assert statuses == [200, 500]
    assert [it.exchange for it in lane.events(FaultPlanned)] == ["x3"]


# ---- connections


def test_what_a_site_that_goes_away_left_undone_is_asked_elsewhere(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    """As nginx does when a connection has had its requests."""
    secure_h2.routes["/a"] = in_turn(go_away(ErrorCodes.NO_ERROR, before))
    with http2_lane.client() as client:
        assert client.wait(client.ask("/first")).body == b"hello"
        upload = client.ask("/a", "POST", b"x" * 1000, [("content-length", "1000")])
        assert client.wait(upload).body == b"hello"
        assert client.wait(client.ask("/free")).body == b"hello"
    first, undone, again, free = secure_h2.seen
    assert (first.connection, undone.connection) == (again.connection - 1,) * 2
    assert (again.body, free.connection) == (b"x" * 1000, again.connection)
    assert [it.status for it in http2_lane.lane.events(ResponseSeen)] == [200] * 3
    assert len(http2_lane.lane.events(RequestSeen)) == 3


@pytest.mark.slow
def test_however_few_requests_a_connection_may_have_all_are_answered(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    def few(conn: H2Connection, stream: int) -> bytes:
        return (
            answer(conn, stream)
            if stream <= 5
            else bytes(GoAwayFrame(0, last_stream_id=5).serialize())
        )

    secure_h2.routes["/a"] = Answer(frames=few)
    with http2_lane.client() as client:
        streams = [client.ask("/a", flush=number % 5 == 4) for number in range(20)]
        assert [client.wait(stream).body for stream in streams] == [b"hello"] * 20
    assert secure_h2.connections_of("/a") >= 7
    assert len(http2_lane.lane.events(ResponseSeen)) == 20


def test_what_a_site_that_goes_away_has_begun_is_ended(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    begun: list[int] = []

    def begin_it(conn: H2Connection, stream: int) -> bytes:
        begun.append(stream)
        conn.send_headers(stream, [(b":status", b"200")])
        conn.send_data(stream, b"hel")
        return b""

    def end_it(conn: H2Connection, stream: int) -> bytes:
        missing = GoAwayFrame(0, last_stream_id=begun[0]).serialize()
        conn.send_data(begun[0], b"lo", end_stream=True)
        return bytes(missing + conn.data_to_send())

    secure_h2.routes["/begun"] = in_turn(begin_it)
    secure_h2.routes["/a"] = in_turn(end_it)
    with http2_lane.client() as client:
        stream = client.ask("/begun")
        client.read_until(lambda: client.streams[stream].body == b"hel", stream)
        other = client.ask("/a")
        assert client.wait(stream).body == b"hello"
        assert client.wait(other).body == b"hello"
    assert secure_h2.connections_of("/begun") == 1
    assert secure_h2.connections_of("/a") == 2


def test_a_site_that_always_goes_away_refuses(http2_lane: Http2Lane, secure_h2: Origin) -> None:
    away = go_away(ErrorCodes.NO_ERROR, before)
    secure_h2.routes["/a"] = in_turn(away, away)
    with http2_lane.client() as client:
        assert client.wait(client.ask("/a")).reset == ErrorCodes.REFUSED_STREAM
        # As a browser does by itself.
        assert client.wait(client.ask("/a")).body == b"hello"


@pytest.mark.slow
def test_a_streamed_request_left_undone_is_refused(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    secure_h2.routes["/up"] = in_turn(go_away(ErrorCodes.NO_ERROR, before))
    body = b"x" * 300_000
    with http2_lane.client() as client:
        length = [("content-length", str(len(body)))]
        stream = client.ask("/up", "POST", headers=length, ends=False)
        for at in range(0, len(body), 16384):
            client.conn.send_data(stream, body[at : at + 16384])
            client.read_until_window(stream)
        client.conn.end_stream(stream)
        client.flush()
        assert client.wait(stream).reset == ErrorCodes.REFUSED_STREAM


@pytest.mark.slow
def test_a_connections_error_is_its_streams(http2_lane: Http2Lane, secure_h2: Origin) -> None:
    code = ErrorCodes.ENHANCE_YOUR_CALM
    secure_h2.routes["/a"] = in_turn(go_away(code, lambda stream: stream))
    with http2_lane.client() as client:
        assert client.wait(client.ask("/a")).reset == code
        assert client.wait(client.ask("/a")).body == b"hello"


@pytest.mark.slow
def test_a_connection_that_ends_under_a_request_is_an_error(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    secure_h2.routes["/a"] = in_turn(lambda conn, stream: None)
    with http2_lane.client() as client:
        assert client.wait(client.ask("/a")).reset == ErrorCodes.INTERNAL_ERROR
        assert client.wait(client.ask("/a")).body == b"hello"


@pytest.mark.slow
@pytest.mark.parametrize("gently", [True, False])
def test_what_waits_for_its_turn_when_the_site_goes_is_asked_elsewhere(
    http2_lane: Http2Lane, secure_h2: Origin, gently: bool
) -> None:
    """A site that takes one stream at a time."""

    def take_one(conn: H2Connection, stream: int) -> bytes:
        answer(conn, stream)
        conn.update_settings({3: 1})
        return b""

    def leave(conn: H2Connection, stream: int) -> bytes | None:
        if not gently:
            return None
        return go_away(ErrorCodes.NO_ERROR, lambda stream: stream)(conn, stream)

    secure_h2.routes["/settings"] = in_turn(take_one)
    secure_h2.routes["/leave"] = in_turn(leave)
    with http2_lane.client() as client:
        assert client.wait(client.ask("/settings")).body == b"hello"
        assert client.wait(client.ask("/free")).body == b"hello"
        leaving = client.ask("/leave", flush=False)
        waiting = [client.ask(f"/{number}") for number in range(5)]
        assert [client.wait(it).body for it in waiting] == [b"hello"] * 5
        if not gently:
            assert client.wait(leaving).reset == ErrorCodes.INTERNAL_ERROR


@pytest.mark.slow
def test_a_client_that_goes_away_gets_what_it_asked_for(
    http2_lane: Http2Lane, secure_h2: Origin
) -> None:
    """A GOAWAY ends no stream (RFC 9113 §6.8)."""
    asked: list[tuple[H2Connection, int]] = []

    def hold(conn: H2Connection, stream: int) -> bytes:
        asked.append((conn, stream))
        return b""

    def both(conn: H2Connection, stream: int) -> bytes:
        answer(*asked[0])
        return answer(conn, stream)

    secure_h2.routes["/held"] = in_turn(hold)
    secure_h2.routes["/a"] = in_turn(both)
    with http2_lane.client() as client:
        pending, other = client.ask("/held"), client.ask("/a", flush=False)
        client.send(GoAwayFrame(0))
        client.flush()
        assert client.wait(pending).body == b"hello"
        assert client.wait(other).body == b"hello"
        with pytest.raises(ConnectionError, match="ended"):
            client.read_until(lambda: False, pending)


# ---- before the answer


def test_informational_answers_pass(http2_lane: Http2Lane, secure_h2: Origin) -> None:
    hints = [(b":status", b"103"), (b"link", b"</a.css>; rel=preload")]

    def frames(conn: H2Connection, stream: int) -> bytes:
        conn.send_headers(stream, [(b":status", b"100")])
        conn.send_headers(stream, [(b":status", b"102")])
        conn.send_headers(stream, hints)
        return answer(conn, stream)

    secure_h2.routes["/a"] = in_turn(frames)
    with http2_lane.client() as client:
        got = client.wait(client.ask("/a"))
    assert got.ahead == [{b":status": b"100"}, {b":status": b"102"}, dict(hints)]
    assert (got.status, got.body) == (200, b"hello")
    assert [it.status for it in http2_lane.lane.events(ResponseSeen)] == [200]
