"""A flood is counted, and fills no disk."""

from tests.lane.support.played import trial
from warex.engine.handler import ExchangeTimings, Outcome, Rejection
from warex.lane.record.repeats import RECORDED
from warex.traces import Repeated, RequestRefused, RequestSeen, ResponseSeen

GIVEN_UP = Outcome(
    end="client_left",
    error="stream reset by client (CANCEL)",
    timings=ExchangeTimings(started=0, ended=0),
)


def test_refusals_beyond_a_thousand_of_a_status_are_one_event() -> None:
    with trial() as began:
        connection = began.connect()
        for number in range(RECORDED + 50):
            began.lane.rejected(connection, Rejection(400, b"GET", f"reason {number}"))
        began.lane.rejected(connection, Rejection(505, b"GET", "another version"))

    assert len(began.all(RequestRefused)) == RECORDED + 1
    assert began.the(Repeated) == Repeated(kind="request_refused", why="400", times=50)


def test_what_is_not_repeated_is_not_an_event() -> None:
    with trial() as began:
        for _ in range(RECORDED):
            began.lane.rejected(began.connect(), Rejection(400, b"GET", "two Host lines"))

    assert not began.all(Repeated)


def test_immediately_aborted_requests_are_counted_but_not_hit() -> None:
    with trial() as began:
        for _ in range(RECORDED + 50):
            exchange = began.exchange("https://shop.test/", "GET", None, 0)
            exchange.is_given_up = True
            began.lane.request_head(exchange)
            exchange.request_body = b""
            began.lane.request(exchange)
            began.lane.ended(exchange, GIVEN_UP)
            assert not began.lane.wants_frames(exchange)

    assert len(began.all(RequestSeen)) == len(began.all(ResponseSeen)) == RECORDED
    assert began.the(Repeated) == Repeated(kind="request", why="given up at once", times=50)
