"""Recognises what an exchange carries: a call to a model, messages of MCP, or a site's traffic."""

from warex.engine.http.encoding import decode
from warex.engine.http.heads import RequestHead
from warex.exchange import Exchange, Resource
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.llm import LlmCalls, LlmTraffic
from warex.lane.traffic.llm_socket import LlmSocketTraffic
from warex.lane.traffic.mcp import McpCalls
from warex.llm import could_be_llm, recognise
from warex.llm.recognition.browser_origin import is_site_request
from warex.llm.recognition.unrecognised import may_be_unrecognised, unrecognised_reason
from warex.llm.recognition.websocket import carries_calls, unreadable_socket_reason


class Kinds:
    """The kinds of traffic of a trial."""

    def __init__(self, mcp: McpCalls, llm_hosts: tuple[str, ...]) -> None:
        self._mcp = mcp
        self._llm_hosts = llm_hosts

    def needs_request_body(self, head: RequestHead, url: str) -> bool:
        """Whether a request may be of an agent, so that its body is kept whatever its size.

        ``url``: as the client knows it.
        """
        return (
            could_be_llm(head.method, head.path)
            or may_be_unrecognised(head.method, head.path)
            or self._mcp.needs_request_body(head.method, url, head.headers.by_name)
        )

    def recognise(
        self, exchange: Exchange, resource: Resource, path: str, body: bytes, calls: LlmCalls
    ) -> Traffic:
        """Return what an exchange carries; ``calls``: of the task that it belongs to.

        A call to a model has not begun yet: its task may still be detected by it.
        """
        request = exchange.request
        host = request.parts.hostname or ""
        unread: str | None = None
        if request.method == "POST" and not is_site_request(host, request.headers, self._llm_hosts):
            content = decode(body, request.headers.get("content-encoding", ""))
            kind = request.headers.get("content-type", "")
            call = recognise(request.method, path, kind, content.body)
            if call is not None:
                return LlmTraffic(exchange, call)
            unread = unrecognised_reason(
                request.method, host, path, request.headers, content.body, content.error
            )
        elif resource == "websocket":
            if carries_calls(host, path, request.headers, self._llm_hosts):
                return LlmSocketTraffic(exchange, calls)
            unread = unreadable_socket_reason(host, request.headers)
        traffic = self._mcp.recognise(exchange, body) or Traffic(exchange)
        traffic.unread_llm = unread
        return traffic
