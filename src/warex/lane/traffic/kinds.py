"""Recognises what an exchange carries: a call to a model, messages of MCP, or a site's traffic."""

from msgspec.structs import replace

from warex.engine.http.encoding import decode
from warex.engine.http.heads import RequestHead
from warex.exchange import Exchange, Request, Resource
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.llm import LlmCalls, LlmTraffic
from warex.lane.traffic.llm_socket import LlmSocketTraffic
from warex.lane.traffic.mcp import McpCalls
from warex.llm import LlmRequest, could_be_llm, recognise
from warex.llm.recognition.browser_origin import is_site_request
from warex.llm.recognition.realtime import dialect_of
from warex.llm.recognition.unrecognised import may_be_unrecognised, unrecognised_reason
from warex.llm.recognition.websocket import unreadable_socket_reason


class Kinds:
    """The kinds of traffic of a trial."""

    def __init__(self, mcp: McpCalls, llm_hosts: tuple[str, ...]) -> None:
        self._mcp = mcp
        self._llm_hosts = llm_hosts

    def needs_request_body(self, head: RequestHead, url: str) -> bool:
        """Whether a request may be an agent's, so that its body is kept at any size.

        ``url``: as the client knows it.
        """
        return head.method == "POST" and (
            could_be_llm("POST", head.path)
            or may_be_unrecognised("POST", head.path)
            or self._mcp.needs_request_body("POST", url, head.headers.by_name)
        )

    def recognise(
        self, exchange: Exchange, resource: Resource, path: str, body: bytes, calls: LlmCalls
    ) -> Traffic:
        """Return what an exchange carries; ``calls``: of the task that it belongs to.

        A call to a model has not begun yet: its task may still be detected by it.
        """
        unread: str | None = None
        if exchange.request.method == "POST":
            call, unread = self._read_call(exchange.request, path, body)
            if call is not None:
                return LlmTraffic(exchange, call)
        elif resource == "websocket":
            host, headers = exchange.request.parts.hostname or "", exchange.request.headers
            if dialect := dialect_of(host, path, headers, self._llm_hosts):
                return LlmSocketTraffic(exchange, calls, dialect)
            unread = unreadable_socket_reason(host, headers)
        if unread is not None:
            exchange = replace(exchange, server="llm")
        traffic = self._mcp.recognise(exchange, body) or Traffic(exchange)
        traffic.unread_llm = unread
        return traffic

    def _read_call(
        self, request: Request, path: str, body: bytes
    ) -> tuple[LlmRequest | None, str | None]:
        """Return the LLM call in a POST, or else why what looks like one cannot be read."""
        host, headers = request.parts.hostname or "", request.headers
        if is_site_request(host, headers, self._llm_hosts):
            return None, None
        content = decode(body, headers.get("content-encoding", ""))
        call = recognise("POST", path, headers.get("content-type", ""), content.body)
        if call is not None:
            return call, None
        why = unrecognised_reason("POST", host, path, headers, content.body, content.error)
        return None, why


def is_longer(head: RequestHead, size: int) -> bool:
    """Whether a request's body is longer than ``size`` bytes, or of unknown length.

    An HTTP/2 body may have no length, such as a gRPC call, whose next message may depend on a
    response to the previous one.
    """
    fields = head.headers.by_name
    length = fields.get("content-length", "")
    if length.isdigit():
        return int(length) > size
    if head.version == "HTTP/2.0":
        return head.method not in ("GET", "HEAD")
    return bool(fields.get("transfer-encoding", ""))


def is_grpc(head: RequestHead) -> bool:
    """Whether a request is a gRPC call (gRPC over HTTP/2, "Requests")."""
    return head.headers.get("content-type").startswith("application/grpc")
