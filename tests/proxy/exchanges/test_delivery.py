"""Over HTTP/2, only what flow control let go to a client that was still there is delivered."""

from collections.abc import Callable, Iterator

import pytest

from tests.proxy.support.client import H2Client
from tests.proxy.support.http2_ledger import Http2Lane
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Origin
from warex.faults import Fault
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import RequestSeen, ResponseSeen

pytestmark = pytest.mark.wire

BODY = "x" * 335


@pytest.fixture
def http2_lane(begin: Begin, ca: CertificateAuthority, secure_h2: Origin) -> Iterator[Http2Lane]:
    """Through a lane that answers each request with 335 bytes of its own."""
    with begin(scenario=scenario(HttpError(status=500, body=BODY))) as lane:
        yield Http2Lane(lane, ca, secure_h2)


LEFT = [("fault_missed", "client_left")]
MET = [("fault_delivered", None)]


def close(client: H2Client, stream: int) -> None:
    """Nothing: the connection is closed next."""


def give_up(client: H2Client, stream: int) -> None:
    client.give_up(stream)


def go_away(client: H2Client, stream: int) -> None:
    client.conn.close_connection()
    client.flush()


@pytest.mark.parametrize(
    ("window", "leave"),
    [
        (0, close),
        *(
            pytest.param(window, leave, marks=pytest.mark.slow)
            for window in (0, 100, 334)
            for leave in (close, give_up, go_away)
            if (window, leave) != (0, close)
        ),
    ],
)
def test_an_answer_that_flow_control_holds_back_is_missed(
    http2_lane: Http2Lane, window: int, leave: Callable[[H2Client, int], None]
) -> None:
    with http2_lane.client(window) as client:
        stream = client.ask("/a")
        got = client.streams[stream]
        client.read_until(lambda: bool(got.headers) and len(got.body) == window, stream)
        leave(client, stream)
    assert http2_lane.settled() == LEFT


def test_an_answer_is_delivered_when_the_window_has_let_its_last_byte_go(
    http2_lane: Http2Lane,
) -> None:
    with http2_lane.client(100) as client:
        stream = client.ask("/a")
        got = client.streams[stream]
        client.read_until(lambda: len(got.body) == 100, stream)
        assert len(http2_lane.lane.proxy.call("GET", "/ledger")) == 1
        # To the byte: the end of a stream needs no window of its own.
        client.conn.increment_flow_control_window(235, stream)
        client.flush()
        assert client.wait(stream).body == BODY.encode()
        assert http2_lane.settled() == MET


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(HttpError(status=500), id="reply"),
        pytest.param(ConnectionCut(how="close"), id="close", marks=pytest.mark.slow),
        pytest.param(ConnectionCut(how="reset"), id="reset", marks=pytest.mark.slow),
    ],
)
def test_a_stream_opened_and_reset_in_one_write_is_given_nothing(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin, fault: Fault
) -> None:
    with begin(scenario=scenario(fault, match={"url": "*/hit"})) as lane:
        http2_lane = Http2Lane(lane, ca, secure_h2)
        with http2_lane.client() as client:
            client.give_up(client.ask("/hit", flush=False))
            assert client.wait(client.ask("/free")).body == b"hello"
            assert http2_lane.settled() == LEFT
    assert [it.url.rpartition("/")[2] for it in lane.events(RequestSeen)] == ["hit", "free"]
    assert len(lane.events(ResponseSeen)) == 2
    assert secure_h2.paths == ["/free"]


@pytest.mark.slow
def test_a_site_is_not_asked_for_a_stream_that_was_reset_at_once(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    with begin() as lane, Http2Lane(lane, ca, secure_h2).client() as client:
        for _ in range(3):
            client.give_up(client.ask("/gone", flush=False))
        assert client.wait(client.ask("/free")).body == b"hello"
    assert secure_h2.paths == ["/free"]
    assert [it.error for it in lane.events(ResponseSeen) if it.status is None] == [
        "stream reset by client (CANCEL)"
    ] * 3


@pytest.mark.slow
def test_what_another_streams_reset_takes_along_is_missed(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    rules = (
        Rule(
            name="large",
            match=Match(url="*/large"),
            trigger=Trigger(always=True),
            fault=HttpError(status=500, body="x" * 10**6),
        ),
        Rule(
            name="cut",
            match=Match(url="*/cut"),
            trigger=Trigger(always=True),
            fault=ConnectionCut(how="reset"),
        ),
    )
    with begin(scenario=Scenario(name="s", rules=rules)) as lane:
        http2_lane = Http2Lane(lane, ca, secure_h2)
        with http2_lane.client(window=2**20) as client:
            for _ in range(12):
                client.ask("/large", flush=False)
            client.ask("/cut")
            # What the kernel had room for had left; the rest was still ours.
            assert LEFT[0] in http2_lane.settled(13)
