"""A site behind stock mitmdump, with a rule for each family of faults."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import msgspec

from tests.mitmproxy_addon.dump import Dump
from tests.proxy.support.lanes import wait_until
from tests.proxy.support.origin import Origin
from warex.traces import (
    FaultDelivered,
    FaultMissed,
    RequestSeen,
    ResponseSeen,
    read_trace,
)

PAGE = b"<!doctype html><html><head><title>Shop</title></head><body><h1>Shop</h1></body></html>"
NAVIGATES = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate"}
HTML = [(b"content-type", b"text/html; charset=utf-8")]
JSON = [(b"content-type", b"application/json")]


def _rule(name: str, fault: dict[str, Any], **match: Any) -> dict[str, Any]:
    where = match or {"url": f"*/{name}"}
    return {"name": name, "match": where, "trigger": {"always": True}, "fault": fault}


RULES = [
    _rule("error", {"kind": "http_error", "status": 503}),
    _rule("late", {"kind": "http_error", "status": 500, "delay": 0.3}),
    _rule("waits", {"kind": "http_error", "status": 500, "delay": 30.0}),
    _rule("unread", {"kind": "http_error", "status": 500}),
    _rule("closed", {"kind": "connection_cut", "how": "close"}),
    _rule("reset", {"kind": "connection_cut", "how": "reset"}),
    _rule("after", {"kind": "connection_cut", "how": "close", "stage": "response"}),
    _rule("popup", {"kind": "popup"}),
    _rule("endless", {"kind": "endless_spinner"}),
    _rule("worker", {"kind": "stale_service_worker"}),
    _rule("json", {"kind": "json_corruption"}),
    _rule("lost", {"kind": "lost_write"}, url="*/lost", method="POST"),
    _rule("again", {"kind": "duplicate_write"}, url="*/again", method="POST"),
    _rule("signed-out", {"kind": "cookie_loss"}),
    _rule("coded", {"kind": "two_factor"}),
    _rule("conflict", {"kind": "write_conflict", "until": "retry"}, url="*/conflict"),
    _rule("products/7", {"kind": "item_gone"}),
    _rule("m-error", {"kind": "llm_error"}, llm={"model": "m-error"}),
    _rule("m-empty", {"kind": "llm_empty"}, llm={"model": "m-empty"}),
    _rule("m-cut", {"kind": "llm_cut", "how": "clean"}, llm={"model": "m-cut"}),
    _rule("m-timeout", {"kind": "llm_timeout", "delay": 0.1}, llm={"model": "m-timeout"}),
    _rule("expired", {"kind": "tls_error", "how": "expired"}, url="https://expired.example"),
    _rule("tls-cut", {"kind": "tls_error", "how": "cut"}, url="https://cut.example"),
]


@dataclass
class Shop:
    """A site behind mitmdump, and a client of both."""

    site: Origin
    dump: Dump
    client: httpx.Client
    out: Path
    version: str

    @property
    def url(self) -> str:
        return f"https://localhost:{self.site.port}"

    def get(self, path: str) -> httpx.Response:
        return self.client.get(f"{self.url}/{path}", headers=NAVIGATES)

    def events[E: msgspec.Struct](self, kind: type[E]) -> list[E]:
        return list(read_trace(self.out / "events.jsonl").events(kind))

    def delivered(self, rule: str) -> FaultDelivered:
        """Return the one delivery of a rule's fault."""
        wait_until(lambda: [it for it in self.events(FaultDelivered) if it.rule == rule])
        (event,) = (it for it in self.events(FaultDelivered) if it.rule == rule)
        assert rule not in [it.rule for it in self.events(FaultMissed)]
        return event

    def response(self, path: str) -> ResponseSeen:
        """Return the recorded response of the one request for a path."""
        (request,) = (it for it in self.events(RequestSeen) if it.url.endswith(f"/{path}"))
        wait_until(lambda: request.exchange in [it.exchange for it in self.events(ResponseSeen)])
        (event,) = (it for it in self.events(ResponseSeen) if it.exchange == request.exchange)
        return event
