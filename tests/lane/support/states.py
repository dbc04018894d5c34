"""An open exchange for tests of one step."""

from pathlib import Path
from typing import Any

from tests.lane.support.played import headers
from warex.clock import Clock
from warex.engine.handler import Address, Connection
from warex.engine.handler import Exchange as WireExchange
from warex.engine.http.heads import RequestHead
from warex.exchange import Exchange, Request
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.lane.state import ConnectionState, Draft, ExchangeState
from warex.lane.tasks import Task
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.llm import LlmCalls
from warex.scenarios import Injector, Scenario


def open_exchange(method: str = "GET", path: str = "/a", **fields: Any) -> ExchangeState:
    head = RequestHead(method, "https", "shop.test", path, "HTTP/1.1", headers(**fields))
    connection = Connection(1, Address("127.0.0.1", 50_000))
    wire = WireExchange(connection, head, request_body=b"")
    injector = Injector(Scenario(name="clean"), 0)
    recorder = Recorder(Clock())
    calls = LlmCalls(ProxyConfig(ca=Path("unused")), injector, recorder)
    request = Request(method, head.url, head.headers.by_name)
    return ExchangeState(
        wire,
        "x1",
        request,
        ConnectionState("c1"),
        Task("", injector, calls),
        Traffic(Exchange("x1", request)),
        "document",
        Draft(head),
    )
