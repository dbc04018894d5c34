"""Reading the Model Context Protocol (MCP) over HTTP: an agent's calls to its tools.

Sources: https://modelcontextprotocol.io/specification, revisions 2024-11-05 (HTTP with SSE) to
2026-07-28 (Streamable HTTP without sessions), "Transports"; JSON-RPC 2.0.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import JsonValue

from warex.exchange import BROWSER
from warex.llm.body.lenient_json import as_dict, as_text
from warex.mcp.messages import McpRequest, answers, cancelled, read_messages, requests

__all__ = [
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
    {"completion/complete", "logging/setLevel", "prompts/get", "prompts/list", "server/discover"}
    | {f"notifications/{it}" for it in ("cancelled", "initialized", "progress")}
    | {"notifications/roots/list_changed", "subscriptions/listen", "tools/call", "tools/list"}
    | {f"resources/{it}" for it in ("list", "read", "subscribe", "templates/list", "unsubscribe")}
)
"""Methods that no other JSON-RPC protocol is known to have (others have ``initialize``)."""


def session_id(headers: Mapping[str, str]) -> str:
    """Return the request's session, empty for none. Header names are in lower case."""
    return headers.get(_SESSION, "")


def could_be_mcp(method: str, headers: Mapping[str, str]) -> bool:
    """Tell whether to keep a request's body, of any length, for ``is_mcp``."""
    if method != "POST":
        return False
    accepted = headers.get("accept", "")
    both = "application/json" in accepted and "text/event-stream" in accepted
    return both or any(name in headers for name in _HEADERS)


def opens_stream(method: str, headers: Mapping[str, str]) -> bool:
    """Tell whether a request asks for an event stream.

    A client of revision 2024-11-05 sends the same request as a page; only the first event of the
    answer shows that it is MCP.
    """
    return method == "GET" and "text/event-stream" in headers.get("accept", "")


def is_stream_of_tools(url: str, headers: Mapping[str, str]) -> bool:
    """Tell whether a request for an event stream certainly goes to an MCP server.

    It has MCP's headers, or a program uses the usual path of the older transport: ``/sse``.
    """
    by_program = not headers.get("user-agent", "").startswith(BROWSER) and "referer" not in headers
    by_path = urlsplit(url).path.rstrip("/").endswith("/sse")
    return any(name in headers for name in _HEADERS) or (by_program and by_path)


def is_mcp(messages: list[dict[str, JsonValue]], headers: Mapping[str, str]) -> bool:
    """Tell, by their shape and the headers, whether the posted messages are MCP."""
    if not messages:
        return False
    return any(name in headers for name in _HEADERS) or any(map(_has_mcp_method, messages))


def _has_mcp_method(message: dict[str, JsonValue]) -> bool:
    method = as_text(message.get("method"))
    params = as_dict(message.get("params"))
    # The Language Server Protocol has `initialize`, too.
    return method in _METHODS or (method == "initialize" and "protocolVersion" in params)
