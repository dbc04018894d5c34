"""HTTP events between our connections and streams, beyond mitmproxy's own."""

from dataclasses import dataclass

import h2.errors
from mitmproxy import http
from mitmproxy.proxy.layers.http._base import HttpEvent
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestProtocolError,
    ResponseProtocolError,
)


@dataclass
class InformationalResponse(HttpEvent):
    """An informational response, such as 103 Early Hints (1xx, RFC 9110 §15.2)."""

    response: http.Response


class RequestReset(RequestProtocolError):
    """The client has reset its HTTP/2 stream (RFC 9113 §6.4)."""

    def __init__(self, stream_id: int, h2_code: int) -> None:
        message = f"stream reset by client ({error_name(h2_code)})"
        super().__init__(stream_id, message, ErrorCode.CANCEL)
        self.h2_code = h2_code


class ResponseReset(ResponseProtocolError):
    """The site has reset the HTTP/2 stream or ended its connection (RFC 9113 §6.4)."""

    def __init__(self, stream_id: int, h2_code: int, message: str = "") -> None:
        message = message or f"stream reset by the site ({error_name(h2_code)})"
        super().__init__(stream_id, message, ErrorCode.KILL)
        self.h2_code = h2_code


class RequestUnprocessed(ResponseReset):
    """The site has sent GOAWAY and has not processed the request (RFC 9113 §6.8)."""

    def __init__(self, stream_id: int, message: str, *, did_others: bool) -> None:
        """``did_others``: it has processed another request on the same connection."""
        super().__init__(stream_id, h2.errors.ErrorCodes.REFUSED_STREAM, message)
        self.did_others = did_others


def error_name(h2_code: int) -> str:
    """Return the name of an HTTP/2 error code, or its number if it has none (RFC 9113 §7)."""
    try:
        return h2.errors.ErrorCodes(h2_code).name
    except ValueError:
        return str(h2_code)
