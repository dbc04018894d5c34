"""Detects invalid requests, and makes the error page for them.

Such a request has no certain URL, so no rule can match it and no exchange begins. mitmproxy would
answer with a page of its own.
"""

import ipaddress
import re
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

from mitmproxy import connection, http
from mitmproxy.net.http import http1, url
from mitmproxy.proxy import commands

_METHOD = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~!$&'()*+;=%]+)(?::(?P<port>\d*))?")
_LONGEST_NAME = 253
_LONGEST_LABEL = 63


@dataclass(frozen=True, slots=True)
class RejectedRequest:
    """A rejected request."""

    client: connection.Client
    status: int
    line: bytes
    """Its first line, as far as it is known."""
    reason: str


@dataclass
class WarexRequestRejectedHook(commands.StartHook):
    """A request was rejected."""

    refused: RejectedRequest
    blocking = False


def invalid_reason(request: http.Request, *, in_tunnel: bool) -> str | None:
    """Return why a request is invalid, or None; unless ``in_tunnel``, it must name its site."""
    if request.scheme not in ("http", "https", ""):
        return f"no site is reached by {request.scheme}"
    if not _METHOD.fullmatch(request.method):
        return "the method is no token"
    if request.method == "CONNECT":
        return "CONNECT leads out of a tunnel" if in_tunnel else None
    if not (request.path.startswith("/") or request.path == "*"):
        return "the path does not begin with a slash"
    if not request.headers.get("sec-websocket-version", "").isascii():
        return "the version of WebSocket is no number"
    named = request.headers.get_all("host")
    if len(named) > 1:
        return "there are two Host lines"
    for authority in (*named, request.authority):
        if authority and (flaw := invalid_authority_reason(authority)):
            return flaw
    if in_tunnel or request.host:
        return None
    try:
        url.parse_authority(request.host_header or "", check=True)
    except ValueError:
        return "nothing says which site is meant"
    return None


@lru_cache(maxsize=4096)
def invalid_authority_reason(authority: str) -> str | None:
    """Return why a host and port are invalid (RFC 3986 §3.2), or None."""
    found = _HOST.fullmatch(authority)
    if found is None:
        return "the host has characters that no host has"
    port = found["port"] or "0"
    if len(port) > 5 or int(port) > 65535:
        return "the port is above 65535"
    name = found["name"]
    if name.startswith("["):
        try:
            ipaddress.IPv6Address(name[1:-1])
        except ValueError:
            return "the host is no IPv6 address"
    return invalid_host_reason(name)


def invalid_host_reason(name: str) -> str | None:
    """Return why a name cannot be looked up (RFC 1035 §2.3.4), or None."""
    labels = name.removesuffix(".").split(".")
    if len(name) > _LONGEST_NAME or not all(0 < len(it) <= _LONGEST_LABEL for it in labels):
        return "the host has an empty or too long part"
    return None


def error_response(status: int) -> http.Response:
    """Return an error page like a site's."""
    phrase = HTTPStatus(status).phrase
    title = f"{status} {phrase}"
    body = (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
        f"<center><h1>{title}</h1></center>\r\n</body>\r\n</html>\r\n"
    )
    made = http.Response.make(status, body, {"Content-Type": "text/html", "Connection": "close"})
    made.reason = phrase
    return made


def error_page(status: int) -> bytes:
    """Return the error page as HTTP/1.1."""
    made: bytes = http1.assemble_response(error_response(status))
    return made
