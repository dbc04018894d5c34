"""What carries an exchange, without a wire: heads, a recorder that notes, a task's LLM calls."""

from pathlib import Path
from typing import Any

from warex.clock import Clock
from warex.effects import Effect
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.exchange import Exchange, Request
from warex.faults.server.http_error import HttpError
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.lane.traffic.kinds import Kinds
from warex.lane.traffic.llm import LlmCalls
from warex.lane.traffic.mcp import McpCalls
from warex.scenarios import Injector, PlannedInjection, Scenario
from warex.traces import Event

CHAT = "/v1/chat/completions"


def fields(**values: str) -> Headers:
    """Return header fields; an underscore stands for a hyphen."""
    return Headers((name.replace("_", "-").encode(), it.encode()) for name, it in values.items())


def response_head(status: int = 200, **values: str) -> ResponseHead:
    return ResponseHead(status, b"", "HTTP/1.1", fields(**values))


def request_head(
    method: str = "GET", path: str = "/", host: str = "shop.test", **values: str
) -> RequestHead:
    return RequestHead(method, "https", host, path, "HTTP/1.1", fields(**values))


def exchange_of(head: RequestHead, name: str = "x1") -> Exchange:
    return Exchange(name, Request(head.method, head.url, head.headers.by_name))


def injected(*effects: Effect) -> PlannedInjection:
    return PlannedInjection("i1", "x1", "r", HttpError(), "", 1, effects)


class Noted:
    """A trial's recorder, whose events and time a test sees."""

    def __init__(self, **config: Any) -> None:
        self.now = 0.0
        self.written: list[Event] = []
        clock = Clock(monotonic=lambda: self.now, wall=lambda: self.now)
        self.recorder = Recorder(clock, on_written=self.written.append)
        self.config = ProxyConfig(ca=Path("unused"), **config)
        self.injector = Injector(Scenario(name="clean"), 0)
        self.calls = LlmCalls(self.config, self.injector, self.recorder)
        self.kinds = Kinds(McpCalls(self.recorder), self.config.traffic.llm_hosts)

    def events[E: Event](self, kind: type[E]) -> list[E]:
        return [event for event in self.written if isinstance(event, kind)]
