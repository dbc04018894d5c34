"""Edits a site's response while it is streamed."""

from collections.abc import Iterator, Sequence
from typing import Final

from mitmproxy import http

from warex.proxy.exchange import flows
from warex.proxy.net.encoding import StreamDecoder
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

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        return self._rewriter.applied

    @property
    def changes(self) -> Sequence[ValueChange]:
        """The values that were changed."""
        return self._rewriter.changes

    def feed(self, data: bytes) -> bytes:
        """Return the decoded, rewritten part that can be sent."""
        return self._rewriter.feed(self._decoder.feed(data))

    def close(self) -> bytes:
        """Return the rest."""
        return self._rewriter.close()


def start_rewriter(flow: http.HTTPFlow, edit: Edit) -> Rewriter | None:
    """Begin to edit a response by its head, and adapt its headers; None if nothing is edited."""
    response = flow.response
    assert response is not None
    coding = response.headers.get("content-encoding", "")
    head = flows.response_of(flow)
    assert head is not None
    rewriting = edit.begin(flows.request_of(flow), head)
    if rewriting is None or not (rewriting.keeps_body or StreamDecoder.reads(coding)):
        return None
    response.headers = http.Headers(_fields(response.headers, rewriting))
    # A changed page in the browser's cache would be a fault without a request.
    response.headers["cache-control"] = "no-store"
    if rewriting.keeps_body:
        return rewriting.body
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
