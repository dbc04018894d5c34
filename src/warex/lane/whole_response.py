"""A complete response: a site's that was read to its end, or one that WAREX makes."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warex.engine.http.encoding import decode
from warex.engine.http.heads import Headers, ResponseHead

_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class WholeResponse(Struct, frozen=True):
    """The head and the body of a response, the body in its content coding."""

    head: ResponseHead
    body: bytes = b""

    @classmethod
    def make(
        cls,
        status: int,
        headers: Mapping[str, str] = _NO_HEADERS,
        body: bytes = b"",
        *,
        cookies: Iterable[str] = (),
        to: str = "GET",
    ) -> "WholeResponse":
        """Make a response to a request of method ``to``; ``cookies``: values of Set-Cookie."""
        fields = Headers(
            (name.encode(), value.encode("utf-8", "surrogateescape"))
            for name, value in headers.items()
        )
        if "transfer-encoding" not in fields.by_name:
            fields = fields.with_field("content-length", str(len(body)))
        for cookie in cookies:
            fields = Headers((*fields.fields, (b"set-cookie", cookie.encode())))
        head = ResponseHead(status, _reason(status), "HTTP/1.1", fields)
        # A body would be taken for the next response (RFC 9110 §9.3.2).
        return cls(head, b"" if to == "HEAD" else body)

    def with_headers(self, headers: Headers) -> "WholeResponse":
        """Return the response with other fields."""
        return replace(self, head=replace(self.head, headers=headers, raw=b""))

    def with_body(self, body: bytes) -> "WholeResponse":
        """Return the response with another body, and its length where the head tells one."""
        headers = self.head.headers
        if "content-length" in headers.by_name:
            headers = headers.with_field("content-length", str(len(body)))
        return replace(self.with_headers(headers), body=body)

    def decoded(self) -> "WholeResponse":
        """Return the response without its content coding; itself if that cannot be read."""
        coding = self.head.headers.get("content-encoding")
        if not coding:
            return self
        content = decode(self.body, coding)
        if content.error is not None:
            return self
        return self.with_headers(self.head.headers.without("content-encoding")).with_body(
            content.body
        )


def _reason(status: int) -> bytes:
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""
