"""Without a network, what is open ends and nothing else begins, until the time is over."""

from typing import Any

import httpx
import pytest
import websockets.sync.client
from websockets.exceptions import ConnectionClosed

from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from tests.proxy.support.websocket import echo_site
from warex.faults.transport.offline import Offline
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultPlanned, HarnessBroke, WebSocketSeen

pytestmark = pytest.mark.wire


def test_offline_cuts_open_exchanges_and_refuses_new_ones_for_a_time(
    begin: Begin, plain: Origin
) -> None:
    async def endless(seen: Any, reader: Any, writer: Any) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
        await reader.read()

    plain.routes |= {"/events": endless, "/a": Answer(body=b"here")}
    match = {"url": "*", "resource": ["document", "xhr", "websocket", "other"]}
    offline = scenario(Offline(lasts=0.3), Trigger(nth=(3,)), match=match)
    with (
        echo_site() as port,
        begin(scenario=offline) as lane,
        websockets.sync.client.connect(f"ws://127.0.0.1:{port}/ws", proxy=lane.url) as channel,
        httpx.Client(proxy=lane.url, timeout=10) as client,
        client.stream("GET", f"http://127.0.0.1:{plain.port}/events") as stream,
    ):
        pieces = stream.iter_raw()
        assert next(pieces) == b"data: 1\n\n"

        def is_established() -> bool:
            try:
                return httpx.get(f"http://127.0.0.1:{plain.port}/a", proxy=lane.url).text == "here"
            except httpx.NetworkError:
                return False

        assert not is_established()
        with pytest.raises(httpx.NetworkError):
            next(pieces)
        with pytest.raises(ConnectionClosed):
            channel.recv(timeout=10)
        wait_until(is_established)
        first, *others = lane.events(FaultPlanned)
        assert {it.repeat_of for it in others} <= {first.injection}
        assert len(lane.events(FaultDelivered)) == 1 + len(others)
        assert [it.what for it in lane.events(WebSocketSeen)] == ["closed"]
        assert not lane.events(HarnessBroke)
