"""What is nobody's reaches no site, and stands in the trace, a hundred times at most."""

from pathlib import Path

import pytest

from tests.lane.support.played import Authority, PlayedEngine, headers
from tests.proxy.support.lanes import configured
from warex.engine.handler import AbortConnection, Address, Connection, Exchange, Respond
from warex.engine.http.heads import RequestHead
from warex.lane.episodes.refusal import Refusal
from warex.lane.lane import Lane, begin_lane
from warex.traces import Event, RequestRefused


@pytest.fixture
def own() -> Lane:
    lane = begin_lane(configured(ca=Path("ca")), Authority())
    lane.engine.attach(PlayedEngine())
    return lane


def written(own: Lane) -> list[Event]:
    events: list[Event] = []
    own.recorder.on_written = events.append
    return events


def ask(refusal: Refusal, connection: Connection, method: str = "GET") -> Respond:
    head = RequestHead(method, "http", "a.example", "/x", "HTTP/1.1", headers(host="a.example"))
    exchange = Exchange(connection, head)
    refusal.request_head(exchange)
    plan = refusal.request(exchange).then
    assert isinstance(plan, Respond)
    return plan


def test_a_request_is_answered_in_words_and_recorded(own: Lane) -> None:
    events, refusal = written(own), Refusal(own)
    connection = Connection(7, Address("::1", 5))
    refusal.connected(connection)

    answer = ask(refusal, connection)

    assert answer.status == 403
    assert b"no episode of this name is running" in b"".join(answer.pieces)
    assert b"".join(ask(refusal, connection, "HEAD").pieces) == b""
    assert [
        (it.connection, it.line, it.reason) for it in events if isinstance(it, RequestRefused)
    ] == [
        ("c1", f"{method} http://a.example/x", "it names an episode that is not running")
        for method in ("GET", "HEAD")
    ]


def test_a_refused_connection_is_cut_for_every_protocol(own: Lane) -> None:
    events, refusal = written(own), Refusal(own)
    connection = Connection(7, Address("::1", 5), Address("a.example", 443))
    refusal.connected(connection)

    assert refusal.hello(connection) == AbortConnection("reset")
    assert not refusal.not_http(connection)
    refusal.closed(connection)
    refused = [it.line for it in events if isinstance(it, RequestRefused)]
    assert refused == ["CONNECT a.example:443"] * 2


def test_a_client_that_asks_on_and_on_does_not_fill_the_trace(own: Lane) -> None:
    events, refusal = written(own), Refusal(own)
    connection = Connection(7, Address("::1", 5))
    refusal.connected(connection)
    for _ in range(500):
        assert ask(refusal, connection).status == 403

    assert len(events) == 100
