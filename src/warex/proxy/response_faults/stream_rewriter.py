"""Edits a site's response while it is streamed.

A decompression bomb is not edited: it passes as it came, or decoded if it shows only later.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from mitmproxy import http

from warex.proxy.exchange import flows
from warex.proxy.net.encoding import StreamDecoder, begins_as_bomb
from warex.rewriting.base import ActiveRewrite, Edit, Rewriter, ValueChange

_OF_THE_BYTES: Final = (
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "content-md5",
    "content-digest",
    "repr-digest",
    "digest",
)
"""Headers about the body's bytes, which are no longer valid."""
_FOR_LATER: Final = ("etag", "last-modified", "accept-ranges")
"""Headers that let a browser cache a body or request a part of it."""


class DecodingRewriter:
    """A rewriter that decodes the body's content coding first."""

    def __init__(self, rewriter: Rewriter, content_encoding: str) -> None:
        self._rewriter = rewriter
        self._decoder = StreamDecoder(content_encoding)
        self._closed = False

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        return self._rewriter.applied

    @property
    def changes(self) -> Sequence[ValueChange]:
        """The values that were changed."""
        return self._rewriter.changes

    @property
    def is_bomb(self) -> bool:
        """Whether the body is a decompression bomb, which is not rewritten any further."""
        return self._decoder.is_bomb

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded, rewritten parts that can be sent."""
        for part in self._decoder.feed(data):
            if not self.is_bomb:
                yield self._rewriter.feed(part)
                continue
            yield self.close()
            yield part

    def close(self) -> bytes:
        """Return the rest."""
        if self._closed:
            return b""
        self._closed = True
        return self._rewriter.close()


class DecompressionBomb(Exception):
    """A body decodes to more bytes than are read."""


def start_rewriter(flow: http.HTTPFlow, edit: Edit, beginning: bytes) -> DecodingRewriter | None:
    """Begin to edit a response by its head, and adapt its headers; None if nothing is edited.

    ``beginning``: the known beginning of its body. Raises DecompressionBomb if that decodes to too
    much.
    """
    response = flow.response
    assert response is not None
    coding = response.headers.get("content-encoding", "")
    head = flows.response_of(flow)
    assert head is not None
    rewriting = edit.begin(flows.request_of(flow), head)
    if rewriting is None or not (rewriting.keeps_body or StreamDecoder.reads(coding)):
        return None
    if not rewriting.keeps_body and begins_as_bomb(beginning, coding):
        raise DecompressionBomb
    response.headers = http.Headers(_fields(response.headers, rewriting))
    # A changed page in the browser's cache would be a fault without a request.
    response.headers["cache-control"] = "no-store"
    if rewriting.keeps_body:
        return DecodingRewriter(rewriting.body, "")
    if not flow.request.is_http2 and flow.request.http_version == "HTTP/1.1":
        response.http_version = "HTTP/1.1"
        response.headers["transfer-encoding"] = "chunked"
    return DecodingRewriter(rewriting.body, coding)


def _fields(headers: http.Headers, rewriting: ActiveRewrite) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers of the edited response, in their order."""
    gone = _FOR_LATER if rewriting.keeps_body else (*_FOR_LATER, *_OF_THE_BYTES)
    for name, value in headers.fields:
        known = name.decode("latin-1").lower()
        if known in gone:
            continue
        given = rewriting.header(known, value.decode("latin-1"))
        if given is not None:
            yield name, given.encode("latin-1", "replace")
    for more, text in rewriting.extra_headers:
        yield more.encode("latin-1"), text.encode("latin-1", "replace")
