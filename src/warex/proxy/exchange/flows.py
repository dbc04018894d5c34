"""Converts mitmproxy's flows to WAREX's own types."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import cast
from urllib.parse import SplitResult, urlsplit

from mitmproxy import connection, http
from mitmproxy.flow import Error
from mitmproxy.net.http import url

from warex.engine.http.encoding import decode
from warex.engine.http.heads import Headers, HttpVersion, RequestHead, ResponseHead
from warex.exchange import Request, Response
from warex.lane.record.operation_name import operation_name
from warex.lane.whole_response import WholeResponse
from warex.traces import Timings
from warex.traffic import HostMap

BROWSER_URL = "warex_url"
"""The key of a flow's metadata with the client's URL of a mapped request."""
CUT = "WAREX cut the connection"
"""The error of an exchange that a fault cut."""


def url_of(flow: http.HTTPFlow) -> str:
    """Return the URL as the browser knows it, also if the request is mapped."""
    kept: str | None = flow.metadata.get(BROWSER_URL)
    if kept:
        return kept
    request = flow.request
    named = request.host_header
    if not named or request.first_line_format == "authority":
        host, whole = request.pretty_host, request.pretty_url
        if ":" in host and f"[{host}]" not in whole:
            # mitmproxy leaves an IPv6 address bare (RFC 3986 §3.2.2 wants brackets).
            return whole.replace(host, f"[{host}]", 1)
        return whole
    return _origin(request.scheme, named) + (request.path if request.path != "*" else "")


@lru_cache(maxsize=4096)
def _origin(scheme: str, host_header: str) -> str:
    """Return the origin in ``pretty_url``, cached for speed (``bench/``)."""
    host, colon, port = host_header.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = host_header, ""
    if not port or int(port) == url.default_port(scheme):
        return f"{scheme}://{host}"
    return f"{scheme}://{host}:{int(port)}"


def map_remote(flow: http.HTTPFlow, target: HostMap) -> None:
    """Send the request to another origin than the browser knows."""
    # Set .data to keep the Host header and the browser's URL. Do not set server.address: mitmproxy
    # would open a new connection for every request.
    request = flow.request
    flow.metadata[BROWSER_URL] = url_of(flow)
    if not request.is_http2:
        request.data.authority = b""
    request.data.scheme = target.target_scheme.encode()
    request.data.host, request.data.port = target.target_host, target.target_port
    # A new server: the shared one may use an upstream proxy.
    flow.server_conn = connection.Server(address=(target.target_host, target.target_port))


def request_head(flow: http.HTTPFlow) -> RequestHead:
    """Return the head of a flow's request."""
    request = flow.request
    return RequestHead(
        method=request.method,
        scheme="https" if request.scheme == "https" else "http",
        authority=request.host_header or "",
        path=request.path,
        version=cast("HttpVersion", request.http_version),
        headers=Headers(request.headers.fields),
    )


def response_head(response: http.Response) -> ResponseHead:
    """Return the head of a response."""
    return ResponseHead(
        response.status_code,
        response.data.reason,
        cast("HttpVersion", response.http_version),
        Headers(response.headers.fields),
    )


def whole_response(response: http.Response) -> WholeResponse:
    """Return a complete response."""
    return WholeResponse(response_head(response), response.raw_content or b"")


def set_head(response: http.Response, head: ResponseHead) -> None:
    """Change the head of a response."""
    response.status_code, response.data.reason = head.status, head.reason
    response.http_version = head.version
    response.headers = http.Headers(head.headers.fields)


def set_response(flow: http.HTTPFlow, response: WholeResponse) -> None:
    """Answer a flow with a response."""
    if flow.response is None:
        flow.response = http.Response.make(response.head.status)
    set_head(flow.response, response.head)
    # ``content`` would encode a body that is still encoded.
    flow.response.raw_content = response.body


def is_longer(request: http.Request, size: int) -> bool:
    """Whether a request's body is longer than ``size`` bytes, or of unknown length.

    An HTTP/2 body may have no length, such as a gRPC call, whose next message may depend on a
    response to the previous one.
    """
    length = request.headers.get("content-length", "")
    if length.isdigit():
        return int(length) > size
    if request.is_http2:
        return request.method not in ("GET", "HEAD")
    return bool(request.headers.get("transfer-encoding"))


def is_grpc(request: http.Request) -> bool:
    """Whether a request is a gRPC call (gRPC over HTTP/2, "Requests")."""
    return bool(request.headers.get("content-type", "").startswith("application/grpc"))


def content_of(message: http.Request | http.Response) -> bytes:
    """Return the decoded body of a complete message, as far as it can be read."""
    return decode(message.raw_content or b"", message.headers.get("content-encoding", "")).body


def decode_content(response: http.Response) -> None:
    """Remove the content coding of a complete response, if it can be read to its end."""
    coding = response.headers.get("content-encoding", "")
    content = decode(response.raw_content or b"", coding)
    if content.error is None:
        response.headers.pop("content-encoding", None)
        response.raw_content = content.body
        if "content-length" in response.headers:
            response.headers["content-length"] = str(len(content.body))


def drop_hop_headers(headers: http.Headers) -> None:
    """Remove ``Proxy-Connection`` and an upgrade to h2c, after which nothing could be read.

    Source of the upgrade: RFC 7540 §3.2, withdrawn by RFC 9113.
    """
    headers.pop("proxy-connection", None)
    if headers.get("upgrade", "").lower() == "h2c":
        del headers["upgrade"]
        headers.pop("http2-settings", None)
        said = (it.strip() for it in headers.get("connection", "").split(","))
        kept = [it for it in said if it.lower() not in ("upgrade", "http2-settings", "")]
        headers.pop("connection", None)
        if kept:
            headers["connection"] = ", ".join(kept)


def header_dict(headers: http.Headers) -> Mapping[str, str]:
    """Return the headers by lower-case name; repeated ones are joined (RFC 9110 §5.2)."""
    found: dict[str, str] = {}
    for raw_name, raw_value in headers.fields:
        name = raw_name.decode("latin-1").lower()
        value = raw_value.decode("latin-1")
        found[name] = f"{found[name]}, {value}" if name in found else value
    return found


def request_of(flow: http.HTTPFlow) -> Request:
    """Return the request of a flow whose body has arrived or is not kept."""
    body = flow.request.raw_content
    digest = hashlib.blake2b(body, digest_size=16).hexdigest() if body else ""
    return Request(flow.request.method, url_of(flow), header_dict(flow.request.headers), digest)


def operation_of(flow: http.HTTPFlow) -> str:
    """Return the operation that a request's body names; empty if none, or the body is not kept."""
    body = flow.request.raw_content
    return operation_name(body, flow.request.headers.get("content-type", "")) if body else ""


def response_of(flow: http.HTTPFlow) -> Response | None:
    """Return the response of a flow, if there is one."""
    if flow.response is None:
        return None
    return Response(flow.response.status_code, header_dict(flow.response.headers))


def header_pairs(headers: http.Headers) -> list[tuple[str, str]]:
    """Return the headers in their order."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.fields]


def timings_of(flow: http.HTTPFlow, end: float) -> Timings:
    """Return the seconds that each phase took; ``end`` in Unix time."""
    request, response, server = flow.request, flow.response, flow.server_conn
    started = request.timestamp_start
    connect = tls = wait = receive = None
    # A connection that an earlier exchange opened does not count.
    if server.timestamp_start is not None and server.timestamp_start >= started:
        connect = _between(server.timestamp_start, server.timestamp_tcp_setup)
        tls = _between(server.timestamp_tcp_setup, server.timestamp_tls_setup)
    if response is not None and response.timestamp_start is not None:
        wait = response.timestamp_start - (request.timestamp_end or started)
        receive = end - response.timestamp_start
    return Timings(
        connect=_rounded(connect),
        tls=_rounded(tls),
        wait=_rounded(wait),
        receive=_rounded(receive),
        total=round(max(0.0, end - started), 6),
    )


def _between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(max(0.0, seconds), 6)


def unreachable_message(site: SplitResult, upstream: str | None, reason: str) -> str:
    """Return a message that a site cannot be reached, with the remedy if there is one."""
    through = remedy = ""
    if upstream is not None:
        through = f" (the upstream proxy is {urlsplit(upstream).netloc.rpartition('@')[2]})"
    if "certificate" in reason.lower():
        remedy = "; --insecure accepts such a certificate"
    return f"{site.scheme}://{site.netloc} cannot be reached{through}: {reason}{remedy}"


def error_reason(flow: http.HTTPFlow) -> str:
    """Return why an exchange failed."""
    if flow.error is None:
        return "the exchange broke"
    return CUT if flow.error.msg == Error.KILLED_MESSAGE else flow.error.msg
