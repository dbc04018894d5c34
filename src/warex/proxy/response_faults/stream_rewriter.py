"""Edits of a site's answer, done while its bytes pass."""

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
"""Fields that say of a body's bytes what is no longer so."""
_FOR_LATER: Final = ("etag", "last-modified", "accept-ranges")
"""Fields that let a browser keep a body for later, or ask for a part of it."""


class DecodingRewriter:
    """A rewriter of a body that comes with a content coding, and goes without."""

    def __init__(self, rewriter: Rewriter, content_encoding: str) -> None:
        self._rewriter = rewriter
        self._decoder = StreamDecoder(content_encoding)
        self._coded = bool(content_encoding)

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        return self._rewriter.applied

    @property
    def changes(self) -> Sequence[ValueChange]:
        """The values that were changed."""
        return self._rewriter.changes

    def feed(self, data: bytes) -> bytes:
        """Return what can go on of the body without its coding."""
        return self._rewriter.feed(self._decoder.feed(data) if self._coded else data)

    def close(self) -> bytes:
        """Return what is left."""
        return self._rewriter.close()


def start_rewriter(flow: http.HTTPFlow, edit: Edit) -> Rewriter | None:
    """Begin to edit the answer, of which only the head has come; None if there is nothing to edit.

    What the head says of the body's bytes is taken out of it.
    """
    response = flow.response
    assert response is not None
    coding = response.headers.get("content-encoding", "")
    head = flows.response_of(flow)
    assert head is not None
    rewriting = edit.begin(flows.request_of(flow), head)
    if rewriting is None or not (rewriting.keeps_body or StreamDecoder.reads(coding)):
        return None
    response.headers = http.Headers(_fields(response.headers, rewriting))
    # A changed page that comes back out of the browser's cache would be hit without anyone asking.
    response.headers["cache-control"] = "no-store"
    if rewriting.keeps_body:
        return rewriting.body
    if not flow.request.is_http2 and flow.request.http_version == "HTTP/1.1":
        response.http_version = "HTTP/1.1"
        response.headers["transfer-encoding"] = "chunked"
    return DecodingRewriter(rewriting.body, coding)


def _fields(headers: http.Headers, rewriting: ActiveRewrite) -> Iterator[tuple[bytes, bytes]]:
    """Yield the fields that the answer is to have, in their order."""
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
