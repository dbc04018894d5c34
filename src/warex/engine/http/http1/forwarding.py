"""Requests as they go to the next hop: as they came, without what addresses the proxy."""

import re
from typing import Final

from warex.engine.http.heads import Headers, RequestHead, parse_fields

_TO_PROXY: Final = frozenset(("proxy-connection", "proxy-authorization"))
_TO_PROXY_LINE = re.compile(rb"^proxy-(?:connection|authorization)[ \t]*:[^\n]*\n", re.I | re.M)
_HOST_LINE = re.compile(rb"^host:[^\n]*\n", re.I | re.M)
_UPGRADE_LINE = re.compile(rb"^(?:upgrade|http2-settings|connection):[^\n]*\n", re.I | re.M)
_H2C_TOKENS: Final = ("upgrade", "http2-settings", "")


def to_site(head: RequestHead) -> RequestHead:
    """Return a request in origin form (RFC 9112 §3.2), without what addresses the proxy.

    Its Host is the host of its URL. An upgrade to h2c (RFC 7540 §3.2, withdrawn by RFC 9113) is
    left out: nothing could be read after it.
    """
    line, _, lines = head.raw.partition(b"\n")
    target = head.path.encode("latin-1")
    fields = head.headers.by_name
    is_absolute = line.split(b" ", 2)[1] != target
    asks_h2c = fields.get("upgrade", "").lower() == "h2c"
    if not is_absolute and not asks_h2c and _TO_PROXY.isdisjoint(fields):
        return head
    if asks_h2c:
        options = [it.strip(" \t") for it in fields.get("connection", "").split(",")]
        options = [it for it in options if it.lower() not in _H2C_TOKENS]
        lines = _UPGRADE_LINE.sub(b"", lines)
        if options:
            lines = f"Connection: {', '.join(options)}\r\n".encode("latin-1") + lines
    if is_absolute and fields.get("host") != head.authority:
        host = head.authority.encode("latin-1")
        lines = b"Host: %b\r\n%b" % (host, _HOST_LINE.sub(b"", lines))
    return _with_raw(head, target, _TO_PROXY_LINE.sub(b"", lines))


def to_proxy(head: RequestHead, authorization: str | None) -> RequestHead:
    """Return a request with its whole URL, for a proxy between here and the site.

    ``authorization``: the value of Proxy-Authorization.
    """
    head = to_site(head)
    _, _, lines = head.raw.partition(b"\n")
    if authorization is not None:
        lines = f"Proxy-Authorization: {authorization}\r\n".encode("latin-1") + lines
    path = "" if head.path == "*" else head.path
    target = f"{head.scheme}://{head.authority}{path}"
    return _with_raw(head, target.encode("latin-1"), lines)


def _with_raw(head: RequestHead, target: bytes, lines: bytes) -> RequestHead:
    raw = b"%b %b %b\r\n%b" % (head.method.encode(), target, head.version.encode(), lines)
    headers = parse_fields(raw, raw.index(b"\n") + 1)
    return RequestHead(
        head.method,
        head.scheme,
        head.authority,
        head.path,
        head.version,
        Headers() if headers is None else headers,
        raw,
    )
