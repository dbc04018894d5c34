"""Edits of a site's answer, done while its bytes pass."""

from collections.abc import Sequence
from typing import Final

from mitmproxy import http

from warex.proxy import flows
from warex.proxy.decoding import StreamDecoder
from warex.rewriting.base import Changed, Edit, Rewriter

_OF_THE_BYTES: Final = (
    "content-length",
    "content-encoding",
    "transfer-encoding",
    "content-md5",
    "content-digest",
    "repr-digest",
    "digest",
    "etag",
    "last-modified",
    "accept-ranges",
)
"""Fields that say of a body what is no longer so, or let a browser keep it for later."""


class Decoded:
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
    def changes(self) -> Sequence[Changed]:
        """The values that were changed."""
        return self._rewriter.changes

    def feed(self, data: bytes) -> bytes:
        """Return what can go on of the body without its coding."""
        return self._rewriter.feed(self._decoder.feed(data) if self._coded else data)

    def close(self) -> bytes:
        """Return what is left."""
        return self._rewriter.close()


def begin(flow: http.HTTPFlow, edit: Edit) -> Rewriter | None:
    """Begin to edit the answer, of which only the head has come; None if there is nothing to edit.

    What the head says of the body's bytes is taken out of it.
    """
    response = flow.response
    assert response is not None
    coding = response.headers.get("content-encoding", "")
    if not StreamDecoder.reads(coding):
        return None
    head = flows.response_of(flow)
    assert head is not None
    rewriting = edit.begin(flows.request_of(flow), head)
    if rewriting is None:
        return None
    response.headers = http.Headers(
        [
            (
                name,
                rewriting.header(name.decode("latin-1").lower(), value.decode("latin-1")).encode(
                    "latin-1", "replace"
                ),
            )
            for name, value in response.headers.fields
            if name.decode("latin-1").lower() not in _OF_THE_BYTES
        ]
    )
    # A changed page that comes back out of the browser's cache would be hit without anyone asking.
    response.headers["cache-control"] = "no-store"
    if not flow.request.is_http2 and flow.request.http_version == "HTTP/1.1":
        response.http_version = "HTTP/1.1"
        response.headers["transfer-encoding"] = "chunked"
    return Decoded(rewriting.body, coding)
