"""Converts between mitmproxy's messages and the heads and plans of a handler."""

import time
from typing import Final, cast

from mitmproxy import http

from warex.engine.handler import Forward, Pace, Relay, Respond
from warex.engine.http.heads import Headers, HttpVersion, RequestHead, ResponseHead
from warex.engine.planned_messages import planned_response, with_body

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
SWITCHING: Final = 101


def request_head(request: http.Request) -> RequestHead:
    """Return the head of a request."""
    return RequestHead(
        method=request.method,
        scheme="https" if request.scheme == "https" else "http",
        authority=request.host_header or _authority(request),
        path=request.path,
        version=version_of(request),
        headers=Headers(request.headers.fields),
    )


def _authority(request: http.Request) -> str:
    host = f"[{request.host}]" if ":" in request.host else request.host
    is_default = request.port == _DEFAULT_PORTS.get(request.scheme)
    return host if is_default else f"{host}:{request.port}"


def change_request(request: http.Request, forward: Forward) -> None:
    """Change a request to what is to be forwarded."""
    head = forward.head
    if forward.body is not None:
        head = with_body(head or request_head(request), forward.body)
        # ``content`` would encode a body that is still encoded.
        request.raw_content = forward.body
    if head is not None:
        request.path = head.path
        request.headers = http.Headers(head.headers.fields)


def response_head(response: http.Response) -> ResponseHead:
    """Return the head of a response."""
    return ResponseHead(
        response.status_code,
        response.data.reason,
        cast("HttpVersion", response.http_version),
        Headers(response.headers.fields),
    )


def make_response(request: RequestHead, respond: Respond) -> http.Response:
    """Return the response that a plan asks for."""
    head, pieces = planned_response(request, respond)
    headers = head.headers
    if request.version == "HTTP/2.0":
        headers = headers.without("transfer-encoding")  # RFC 9113 §8.2.2.
    now = time.time()  # noqa: TID251 - of mitmproxy's own record, beside its other times
    return http.Response(
        b"HTTP/1.1",
        head.status,
        head.reason,
        http.Headers(headers.fields),
        b"".join(pieces),
        None,
        now,
        now,
    )


def change_head(response: http.Response, head: ResponseHead | None) -> None:
    """Change the head of a response; None leaves it as it is."""
    if head is not None:
        response.status_code, response.data.reason = head.status, head.reason
        response.headers = http.Headers(head.headers.fields)


def allow_any_length(request: http.Request, response: http.Response) -> None:
    """Let the body of a response be streamed, whatever its length."""
    response.headers.pop("content-length", None)
    if request.http_version == "HTTP/1.1":
        response.headers["transfer-encoding"] = "chunked"
    else:
        response.headers.pop("transfer-encoding", None)


def change_body(response: http.Response, body: bytes) -> None:
    """Change the body of a complete response, in its content coding."""
    if body != response.raw_content:
        response.raw_content = body
        if "content-length" in response.headers:
            response.headers["content-length"] = str(len(body))


def version_of(request: http.Request) -> HttpVersion:
    """Return the version of HTTP that a client speaks."""
    return cast("HttpVersion", request.http_version)


def leave_out_h2c(request: http.Request) -> None:
    """Remove an upgrade to h2c (RFC 7540 §3.2, withdrawn by RFC 9113): nothing could be read."""
    headers = request.headers
    if headers.get("upgrade", "").lower() != "h2c":
        return
    del headers["upgrade"]
    headers.pop("http2-settings", None)
    options = (it.strip() for it in headers.pop("connection", "").split(","))
    remaining = [it for it in options if it.lower() not in ("upgrade", "http2-settings", "")]
    if remaining:
        headers["connection"] = ", ".join(remaining)


def switches(response: ResponseHead | None) -> bool:
    """Whether a response is followed by another protocol than HTTP."""
    return response is not None and response.status == SWITCHING


def require_unpaced(planned: object) -> None:
    """Raise TypeError if an answer is to be sent as mitmproxy cannot."""
    if isinstance(planned, Respond) and planned.defect is not None:
        raise TypeError("mitmproxy cannot send an answer that breaks the rules of HTTP")
    pace = planned.pace if isinstance(planned, Relay | Respond) else None
    if pace is None:
        return
    pauses_only = pace == Pace(pause_s=pace.pause_s)
    if isinstance(planned, Respond) and len(planned.pieces) < 2 and pauses_only:
        return
    raise TypeError("mitmproxy cannot send an answer in pieces over time, or cut it in its middle")
