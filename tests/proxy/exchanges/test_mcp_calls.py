"""Calls to servers of tools (MCP) over real sockets."""

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane
from tests.proxy.support.mcp import (
    HEAD,
    PATH,
    SESSION,
    OldServer,
    answered,
    asked,
    called,
    complete_response,
    event,
    text_content,
)
from tests.proxy.support.origin import Answer, Origin
from warex.traces import McpCall

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


def post(lane: Lane, site: Origin, body: object, **headers: str) -> httpx.Response:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    with httpx.Client(proxy=lane.url) as raw:
        url = f"http://127.0.0.1:{site.port}{PATH}"
        return raw.post(url, content=sent, headers={**HEAD, **headers})


def data_of(answer: httpx.Response) -> Iterator[str]:
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield line.removeprefix("data: ")


@pytest.mark.wire
def test_calls_are_recorded_with_their_answers_and_no_byte_is_changed(
    begin: Begin, plain: Origin
) -> None:
    """Answered as JSON, as events, with an error; the older transport beside it."""
    first = json.dumps(answered(0, {"serverInfo": {"name": "browser"}})).encode()
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    picture = {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}
    streamed = event(progress) + event(answered("a", picture)) + b": end\n\n"
    refused = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool"}}'
    with begin() as lane:
        for sent, got, kind in (
            (asked(0, "initialize", {"protocolVersion": "2025-06-18"}), first, "application/json"),
            (called("a", "look", url="https://shop.test/"), streamed, "text/event-stream"),
            (called(2, "buy", api_key="sk-live-abcdef0123456789"), refused, "application/json"),
        ):
            plain.routes[PATH] = Answer(raw=complete_response(got, kind))
            assert post(lane, plain, sent, **{"mcp-session-id": SESSION}).content == got
        OldServer(plain)
        site = f"http://127.0.0.1:{plain.port}"
        with (
            httpx.Client(proxy=lane.url) as other,
            httpx.Client(proxy=lane.url) as raw,
            raw.stream("GET", f"{site}/sse", headers={"accept": "text/event-stream"}) as stream,
        ):
            data = data_of(stream)
            endpoint = site + next(data)
            assert other.post(endpoint, json=called(7, "echo", word="é")).status_code == 202
            assert json.loads(next(data)) == answered(7, text_content('{"word": "\\u00e9"}'))

    began, looked, bought, echoed = lane.events(McpCall)
    assert [it.method for it in (began, looked)] == ["initialize", "tools/call"]
    assert (began.session, looked.session, echoed.session) == (1, 1, 2)
    assert (looked.tool, looked.arguments) == ("look", {"url": "https://shop.test/"})
    (part,) = looked.result["content"]
    path = lane.out / "blobs" / part["data"].removeprefix("blob:")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert (looked.complete, looked.error, looked.transport) == (True, None, "streamable_http")
    assert (bought.error, bought.error_code) == ("Unknown tool", -32602)
    assert bought.arguments == {"api_key": "[redacted]"}
    assert (echoed.id, echoed.arguments, echoed.transport) == (7, {"word": "é"}, "sse")
    assert echoed.result == text_content('{"word": "\\u00e9"}')
