"""Faults of single messages of a WebSocket, as its client and its site meet them."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import websockets.sync.client
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus
from websockets.sync.server import ServerConnection, serve

from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.faults.transport.bandwidth import Bandwidth
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import (
    FaultDelivered,
    FaultMissed,
    HarnessBroke,
    ResponseSeen,
    WebSocketSeen,
    Witness,
)

pytestmark = pytest.mark.wire

PRICES = [json.dumps({"type": "price", "id": n, "price": 10 + n}) for n in range(1, 7)]


class Site:
    """Sends six prices for each message, and keeps what it gets."""

    def __init__(self) -> None:
        self.port = 0
        self.received: list[str | bytes] = []
        self.codes: list[int | None] = []

    def answer(self, channel: ServerConnection) -> None:
        try:
            for message in channel:
                self.received.append(message)
                if message == "prices":
                    for price in PRICES:
                        channel.send(price)
                else:
                    channel.send(message)
        finally:
            self.codes.append(channel.close_code)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    site = Site()
    with serve(site.answer, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        site.port = server.socket.getsockname()[1]
        yield site
        server.shutdown()
        thread.join(5)


@contextmanager
def opened(
    lane: Lane, site: Site, **more: Any
) -> Iterator[websockets.sync.client.ClientConnection]:
    site.received.clear()
    site.codes.clear()
    url = f"ws://127.0.0.1:{site.port}/prices"
    with websockets.sync.client.connect(url, proxy=lane.url, **more) as channel:
        yield channel


def read(channel: websockets.sync.client.ClientConnection, count: int) -> list[Any]:
    return [json.loads(channel.recv(timeout=30)) for _ in range(count)]


def ids(channel: websockets.sync.client.ClientConnection, count: int) -> list[int]:
    return [it["id"] for it in read(channel, count)]


@pytest.mark.parametrize("compression", ["deflate", None])
def test_messages_are_dropped_repeated_put_out_of_order_and_corrupted(
    begin: Begin, site: Site, compression: str | None
) -> None:
    more = {"compression": compression}
    cases: list[tuple[WebsocketFault, list[int], int]] = [
        (WebsocketFault(action="drop", every=3), [1, 2, 4, 5], 2),
        (WebsocketFault(action="duplicate", nth=(2,)), [1, 2, 2, 3, 4, 5, 6], 1),
        (WebsocketFault(action="reorder", first=1), [2, 1, 3, 4, 5, 6], 1),
        (WebsocketFault(action="drop", members={"/id": 4}), [1, 2, 3, 5, 6], 1),
        (WebsocketFault(action="drop", text='*"id": 5,*'), [1, 2, 3, 4, 6], 1),
    ]
    for fault, wanted, count in cases:
        with begin(scenario=scenario(fault)) as lane, opened(lane, site, **more) as channel:
            channel.send("prices")
            assert ids(channel, len(wanted)) == wanted, fault
            channel.send('{"id": 0}')
            assert ids(channel, 1) == [0]
        (delivered,) = lane.events(FaultDelivered)
        changed = [it for it in lane.events(Witness) if it.what == "changed"]
        assert 1 + len(changed) == count, fault
        assert len(delivered.changes) == 1
        assert not lane.events(FaultMissed) + lane.events(HarnessBroke)
    fault = WebsocketFault(action="corrupt", at="/price", nth=(2, 3))
    with begin(scenario=scenario(fault)) as lane, opened(lane, site, **more) as channel:
        channel.send("prices")
        assert [it["price"] for it in read(channel, 6)] == [11, 13, 14, 14, 15, 16]
    (delivered,) = lane.events(FaultDelivered)
    (change,) = delivered.changes
    assert (change.where, change.before, change.after) == (
        "message 2 of the server: /price",
        "12",
        "13",
    )
    sizes = [it.size for it in lane.events(WebSocketSeen) if not it.from_client]
    assert sizes[1] == len(PRICES[1]), "messages are recorded as they came"


def test_a_clients_messages_are_hit_before_the_site_has_them(begin: Begin, site: Site) -> None:
    fault = WebsocketFault(action="corrupt", sender="client", at="/amount", how="off_by_one")
    with begin(scenario=scenario(fault)) as lane, opened(lane, site) as channel:
        channel.send('{"amount": 3}')
        assert read(channel, 1) == [{"amount": 4}]
        channel.ping().wait(5)
    assert site.received == ['{"amount": 4}']
    (change,) = lane.events(FaultDelivered)[0].changes
    assert change.where == "message 1 of the client: /amount"


def test_a_websocket_is_refused_ended_and_reset(begin: Begin, site: Site) -> None:
    once = Trigger(first=1)
    refusing = scenario(WebsocketFault(action="refuse", status=403), once)
    with begin(scenario=refusing) as lane:
        with pytest.raises(InvalidStatus, match="403"), opened(lane, site):
            pass
        with opened(lane, site) as channel:  # Only the first was to be refused.
            channel.send("{}")
            assert read(channel, 1) == [{}]
    assert [it.status for it in lane.events(ResponseSeen)] == [403, 101]

    closing = scenario(WebsocketFault(code=1013, reason="try later", members={"/id": 3}), once)
    with begin(scenario=closing) as lane, opened(lane, site) as channel:
        channel.send("prices")
        assert ids(channel, 2) == [1, 2]
        with pytest.raises(ConnectionClosed) as ended:
            channel.recv(timeout=30)
        assert ended.value.rcvd is not None
        assert (ended.value.rcvd.code, ended.value.rcvd.reason) == (1013, "try later")
        wait_until(lambda: site.codes)
    assert site.codes == [1013]
    closed = [it for it in lane.events(WebSocketSeen) if it.what == "closed"]
    assert [it.close_code for it in closed] == [1013]
    assert len(lane.events(FaultDelivered)) == 1

    with (
        begin(scenario=scenario(WebsocketFault(action="reset"))) as lane,
        opened(lane, site) as channel,
    ):
        channel.send("prices")
        with pytest.raises(ConnectionClosedError) as cut:
            channel.recv(timeout=30)
        assert cut.value.rcvd is None
    assert len(lane.events(FaultDelivered)) == 1
    assert [it.close_code for it in lane.events(WebSocketSeen) if it.what == "closed"] == [1006]


def test_messages_come_late_and_stop_while_pings_pass(begin: Begin, site: Site) -> None:
    late = WebsocketFault(action="delay", seconds=0.3, nth=(3,))
    with begin(scenario=scenario(late)) as lane, opened(lane, site) as channel:
        channel.send("prices")
        assert ids(channel, 2) == [1, 2]
        began = time.monotonic()
        assert ids(channel, 4) == [3, 4, 5, 6]
        assert time.monotonic() - began > 0.2
    (delivered,) = lane.events(FaultDelivered)
    assert delivered.waited_s >= 0.3

    silent = WebsocketFault(action="stall", members={"/id": 2})
    with begin(scenario=scenario(silent)) as lane, opened(lane, site) as channel:
        channel.send("prices")
        assert ids(channel, 1) == [1]
        assert channel.ping().wait(5), "a pong is not a message"
        with pytest.raises(TimeoutError):
            channel.recv(timeout=1.3)
    (delivered,) = lane.events(FaultDelivered)
    assert delivered.waited_s >= 1


def test_a_fault_that_hits_no_message_is_missed(begin: Begin, site: Site) -> None:
    with begin(scenario=scenario(WebsocketFault(text="nothing"))) as lane:
        with opened(lane, site) as channel:
            channel.send("prices")
            assert ids(channel, 6) == [1, 2, 3, 4, 5, 6]
        wait_until(lambda: lane.events(FaultMissed))
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


def test_leaving_a_delay_counts_as_a_hit_after_waiting(begin: Begin, site: Site) -> None:
    for wait, reason in ((1.2, None), (0.1, "client_gone")):
        with begin(scenario=scenario(WebsocketFault(action="delay", seconds=60))) as lane:
            with opened(lane, site, close_timeout=0.1) as channel:
                channel.send("prices")
                with pytest.raises(TimeoutError):
                    channel.recv(timeout=wait)
            wait_until(lambda: [*lane.events(FaultDelivered), *lane.events(FaultMissed)])
        assert [it.client_left for it in lane.events(FaultDelivered)] == [True] * (reason is None)
        assert [it.reason for it in lane.events(FaultMissed)] == [reason] * (reason is not None)


def test_messages_come_whole_at_the_rate_of_a_line_and_it_is_delivered(
    begin: Begin, site: Site
) -> None:
    text = "x" * 4000
    slow = scenario(Bandwidth(down=100_000, up=200_000))
    with begin(scenario=slow) as lane, opened(lane, site, compression=None) as channel:
        began = time.monotonic()
        channel.send(text)
        assert channel.recv(timeout=30) == text
        seconds = time.monotonic() - began

    assert seconds >= 4000 / 100_000 + 4000 / 200_000
    (delivered,) = lane.events(FaultDelivered)
    assert delivered.waited_s >= 4000 / 200_000
    assert not lane.events(FaultMissed)


def test_a_rate_limit_or_close_does_not_split_a_long_frame(begin: Begin, site: Site) -> None:
    long = "x" * 200_000
    match = Match(url="*")
    faults = {"slow": Bandwidth(down=2_000_000), "closed": WebsocketFault(action="close", nth=(2,))}
    both = Scenario(
        name="both",
        rules=tuple(
            Rule(name=name, match=match, trigger=Trigger(always=True), fault=fault)
            for name, fault in faults.items()
        ),
    )
    with begin(scenario=both) as lane, opened(lane, site, compression=None) as channel:
        began = time.monotonic()
        channel.send(long)
        assert channel.recv(timeout=10) == long
        assert time.monotonic() - began >= len(long) / 2_000_000
        channel.send(long)
        with pytest.raises(ConnectionClosed) as ended:
            channel.recv(timeout=10)
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 1011

    assert len(lane.events(FaultDelivered)) == 2
    assert not lane.events(FaultMissed)
    assert not lane.events(HarnessBroke)
