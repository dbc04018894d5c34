"""Each exchange is of one kind, told by its request."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lane.support.traffic import CHAT, Noted, exchange_of, request_head, response_head
from warex.engine.http.heads import Headers, HttpVersion, RequestHead
from warex.exchange import Resource, Server
from warex.lane.traffic.base import Ending, Traffic
from warex.lane.traffic.kinds import is_grpc, is_longer
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.traffic.llm_socket import LlmSocketTraffic
from warex.lane.traffic.mcp import McpTraffic

ASKED = json.dumps({"model": "m", "messages": [{"role": "user", "content": "now?"}]}).encode()
CALLED = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call"}).encode()


def kind_of(
    body: bytes = b"", resource: Resource = "other", **options: Any
) -> tuple[type[Traffic], Server, str | None]:
    noted, head = Noted(), request_head(**options)
    result = noted.kinds.recognise(exchange_of(head), resource, head.path, body, noted.calls)
    return type(result), result.exchange.server, result.unread_llm


@pytest.mark.parametrize(
    ("fields", "kind", "server"),
    [
        ({"method": "POST", "path": CHAT, "body": ASKED}, LlmTraffic, "llm"),
        ({"method": "POST", "path": "/mcp", "body": CALLED}, McpTraffic, "mcp"),
        ({"path": "/v1/responses", "resource": "websocket"}, LlmSocketTraffic, "llm"),
        ({"path": "/", "resource": "document"}, Traffic, "site"),
        ({"method": "POST", "path": "/form", "body": b"a=b"}, Traffic, "site"),
        ({"path": "/chat", "resource": "websocket"}, Traffic, "site"),
    ],
)
def test_a_request_shows_its_kind(
    fields: dict[str, Any], kind: type[Traffic], server: Server
) -> None:
    assert kind_of(**fields) == (kind, server, None)


def test_a_pages_own_call_to_a_model_is_its_sites() -> None:
    page: dict[str, Any] = {"origin": "https://shop.test", "sec_fetch_mode": "cors"}
    assert kind_of(ASKED, method="POST", path=CHAT, **page) == (Traffic, "site", None)


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "POST", "path": CHAT, "body": b"no JSON"},
        {"path": "/v1/voices", "resource": "websocket"},
    ],
)
def test_what_looks_like_a_call_and_is_not_read_says_why(fields: dict[str, Any]) -> None:
    kind, server, unread = kind_of(**fields, host="api.openai.com")
    assert (kind, server) == (Traffic, "llm")
    assert unread


def test_the_bodies_of_what_may_be_an_agents_are_kept() -> None:
    kinds, plain = Noted().kinds, request_head("POST", "/upload")
    tools = request_head("POST", "/tools", accept="application/json, text/event-stream")
    for head, retained in ((plain, False), (request_head("POST", CHAT), True), (tools, True)):
        assert kinds.needs_request_body(head, head.url) is retained


REQUESTS: dict[str, dict[str, Any]] = {
    "a model": {"method": "POST", "path": CHAT, "body": ASKED},
    "tools": {"method": "POST", "path": "/mcp", "body": CALLED},
    "a stream of tools": {"path": "/sse", "accept": "text/event-stream"},
    "a site": {"path": "/"},
}


@pytest.mark.parametrize("name", REQUESTS)
@given(
    pieces=st.lists(st.binary(max_size=60) | st.sampled_from([b"data: {}\n\n", b"\n", b"[", b"{"])),
    kind=st.sampled_from(["application/json", "text/event-stream", "text/html", ""]),
    coding=st.sampled_from(["", "gzip", "br", "zstd", "rot13"]),
)
@settings(max_examples=60)
def test_a_streamed_answer_passes_byte_for_byte(
    name: str, pieces: list[bytes], kind: str, coding: str
) -> None:
    asked = dict(REQUESTS[name])
    noted, body = Noted(), asked.pop("body", b"")
    head = request_head(**asked)
    traffic = noted.kinds.recognise(exchange_of(head), "other", head.path, body, noted.calls)
    if isinstance(traffic, LlmTraffic):
        traffic.begin(noted.calls)
    answered = response_head(content_type=kind, content_encoding=coding)
    traffic.answered(answered)
    passed = b"".join(traffic.feed(piece) for piece in pieces if piece) + traffic.feed(b"")
    traffic.end(Ending(head=answered, began=True))

    assert passed == b"".join(pieces)


def test_a_body_of_unknown_length_is_long() -> None:
    def head(version: HttpVersion, method: str = "POST", **fields: str) -> RequestHead:
        sent = [(name.replace("_", "-").encode(), it.encode()) for name, it in fields.items()]
        return RequestHead(method, "https", "shop.test", "/", version, Headers(sent))

    assert is_longer(head("HTTP/1.1", content_length="11"), 10)
    assert not is_longer(head("HTTP/1.1", content_length="10"), 10)
    assert is_longer(head("HTTP/1.1", transfer_encoding="chunked"), 10)
    assert not is_longer(head("HTTP/1.1"), 10)
    assert is_longer(head("HTTP/2.0"), 10)
    assert not is_longer(head("HTTP/2.0", "GET"), 10)
    assert is_grpc(head("HTTP/2.0", content_type="application/grpc+proto"))
