"""Heads as the bytes of HTTP/1, where they are not passed on as they came."""

from warex.engine.http.error_page import error_body, phrase
from warex.engine.http.heads import Headers, RequestHead, ResponseHead


def error_page(status: int) -> bytes:
    """Return an error page as a connection's last answer."""
    body = error_body(status)
    return (
        b"HTTP/1.1 %d %b\r\nContent-Type: text/html\r\nConnection: close\r\n"
        b"content-length: %d\r\n\r\n%b" % (status, phrase(status), len(body), body)
    )


def response_bytes(head: ResponseHead) -> bytes:
    """Return the bytes of a response's head."""
    reason = head.reason
    version = "HTTP/1.1" if head.version == "HTTP/2.0" else head.version
    if head.version == "HTTP/2.0" and not reason:
        reason = phrase(head.status)
    lines = b"".join(b"%b: %b\r\n" % field for field in head.headers.fields)
    return b"%b %d %b\r\n%b\r\n" % (version.encode(), head.status, reason, lines)


def with_chunks(head: ResponseHead) -> ResponseHead:
    """Return a head that announces chunks."""
    headers = head.headers.with_added("transfer-encoding", "chunked")
    return ResponseHead(head.status, head.reason, head.version, headers)


def as_http1(head: RequestHead, has_body: bool) -> RequestHead:
    """Return a request of HTTP/2, or a changed one, with its bytes on HTTP/1."""
    headers, fields = head.headers, head.headers.by_name
    version = head.version
    if version == "HTTP/2.0":
        version = "HTTP/1.1"
        cookies = headers.get_all("cookie")
        if len(cookies) > 1:
            # Only HTTP/2 has several (RFC 9113 §8.2.3).
            headers = headers.with_field("cookie", "; ".join(cookies))
        if "host" not in fields:
            headers = Headers.of_text((("Host", head.authority), *headers))
    if has_body and not {"content-length", "transfer-encoding"} & fields.keys():
        headers = headers.with_added("Transfer-Encoding", "chunked")
    line = f"{head.method} {head.path} {version}\r\n".encode("latin-1")
    raw = b"%b%b\r\n" % (line, b"".join(b"%b: %b\r\n" % field for field in headers.fields))
    return RequestHead(head.method, head.scheme, head.authority, head.path, version, headers, raw)


def says_close(head: ResponseHead) -> bool:
    """Whether a response ends its connection (RFC 9112 §9.3)."""
    connection = head.headers.by_name.get("connection")
    if connection is None:
        return head.version in ("HTTP/1.0", "HTTP/0.9")
    tokens = [it.strip(" \t") for it in connection.lower().split(",")]
    if "close" in tokens:
        return True
    return head.version in ("HTTP/1.0", "HTTP/0.9") and "keep-alive" not in tokens


def is_last(head: RequestHead) -> bool:
    """Whether a request is its connection's last (RFC 9112 §9.3)."""
    connection = head.headers.by_name.get("connection")
    if connection is None:
        return head.version == "HTTP/1.0"
    tokens = [it.strip(" \t") for it in connection.lower().split(",")]
    if "close" in tokens:
        return True
    return head.version == "HTTP/1.0" and "keep-alive" not in tokens
