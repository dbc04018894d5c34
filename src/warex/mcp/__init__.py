"""What traffic of the Model Context Protocol (MCP) over HTTP says: an agent's calls to its tools.

Sources: https://modelcontextprotocol.io/specification, revisions 2024-11-05 (HTTP with SSE) to
2026-07-28 (Streamable HTTP without sessions), "Transports"; JSON-RPC 2.0.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import JsonValue

from warex.exchange import BROWSER
from warex.llm.body.lenient_json import as_dict, as_text
from warex.mcp.messages import McpAnswer, McpRequest, answers, cancelled, read_messages, requests

__all__ = [
    "McpAnswer",
    "McpRequest",
    "answers",
    "cancelled",
    "could_be_mcp",
    "is_mcp",
    "is_stream_of_tools",
    "opens_stream",
    "read_messages",
    "requests",
    "session_id",
]

_SESSION = "mcp-session-id"
_HEADERS = (_SESSION, "mcp-protocol-version", "mcp-method")
_METHODS = frozenset(
    {
        "completion/complete",
        "logging/setLevel",
        "notifications/cancelled",
        "notifications/initialized",
        "notifications/progress",
        "notifications/roots/list_changed",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "server/discover",
        "subscriptions/listen",
        "tools/call",
        "tools/list",
    }
)
"""Names that no other protocol over JSON-RPC is known to have; ``initialize`` and ``ping`` are
those of others, too."""


def session_id(headers: Mapping[str, str]) -> str:
    """Return the session that a request names; empty for none. Names are in lower case."""
    return headers.get(_SESSION, "")


def could_be_mcp(method: str, headers: Mapping[str, str]) -> bool:
    """Tell whether a request's body is worth keeping for ``is_mcp``, however long it is."""
    if method != "POST":
        return False
    accepted = headers.get("accept", "")
    both = "application/json" in accepted and "text/event-stream" in accepted
    return both or any(name in headers for name in _HEADERS)


def opens_stream(method: str, headers: Mapping[str, str]) -> bool:
    """Tell whether a request asks for a stream of what a server has to say.

    A client of the revision 2024-11-05 asks for it as any page does that wants events: that its
    answer is MCP, its first event tells.
    """
    return method == "GET" and "text/event-stream" in headers.get("accept", "")


def is_stream_of_tools(url: str, headers: Mapping[str, str]) -> bool:
    """Tell whether a request that asks for events surely asks a server of tools.

    That is by its headers or, from a program, by the path that the server of a session in the older
    transport has by custom: ``/sse``.
    """
    by_program = not headers.get("user-agent", "").startswith(BROWSER) and "referer" not in headers
    by_path = urlsplit(url).path.rstrip("/").endswith("/sse")
    return any(name in headers for name in _HEADERS) or (by_program and by_path)


def is_mcp(messages: list[dict[str, JsonValue]], headers: Mapping[str, str]) -> bool:
    """Tell whether what a client posts are messages of MCP: by their shape and its headers."""
    if not messages:
        return False
    return any(name in headers for name in _HEADERS) or any(map(_is_ours, messages))


def _is_ours(message: dict[str, JsonValue]) -> bool:
    method = as_text(message.get("method"))
    params = as_dict(message.get("params"))
    # Language servers begin by the same word.
    return method in _METHODS or (method == "initialize" and "protocolVersion" in params)
