"""Edits a site's response while it is streamed.

A decompression bomb is not edited: it passes as it came, or decoded if it shows only later.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, override

from msgspec.structs import replace

from warex.engine.http.encoding import StreamDecoder, begins_as_bomb
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.exchange import Request, Response
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


class StreamedRewriter(Protocol):
    """Reads or changes a response while it is streamed."""

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""

    @property
    def changes(self) -> Sequence[ValueChange]:
        """The values that were changed."""

    @property
    def is_bomb(self) -> bool:
        """Whether the body is a decompression bomb, which is not read to its end."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what can be sent after the next piece of the body, in bounded parts."""

    def close(self) -> bytes:
        """Return the rest at the end of the body."""


class BodyReader:
    """A ``StreamedRewriter`` that passes the body on unchanged."""

    applied = False
    changes: Sequence[ValueChange] = ()
    is_bomb = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Read a piece, and yield it."""
        self.read(data)
        yield data

    def read(self, data: bytes) -> None:
        """Read a piece of the body."""

    def close(self) -> bytes:
        """Note that the body is complete."""
        return b""


class BeginningReader(BodyReader):
    """Reads the decoded beginning of a body."""

    def __init__(self, coding: str, size: int, note: Callable[[bytes], None]) -> None:
        """Give ``note`` at most ``size`` bytes at the end, unless the body is a bomb."""
        self._size, self._note = size, note
        self._decoder, self._beginning = StreamDecoder(coding), bytearray()
        self._is_over = False

    @override
    def read(self, data: bytes) -> None:
        if self._is_over:
            return
        for part in self._decoder.feed(data):
            self._beginning += part
            self._is_over = self._decoder.is_bomb or len(self._beginning) >= self._size
            if self._is_over:
                return

    @override
    def close(self) -> bytes:
        if not self._decoder.is_bomb:
            self._note(bytes(self._beginning[: self._size]))
        return b""


def rewritten(
    piece: bytes, rewriters: Sequence[StreamedRewriter], *, last: bool
) -> Iterator[bytes]:
    """Yield the parts of a piece of the response after all rewriters; ``last``: at its end."""
    for number, rewriter in enumerate(rewriters):
        if isinstance(rewriter, BodyReader):  # Many responses have nothing else.
            if piece:
                rewriter.read(piece)
            if last:
                rewriter.close()
            continue
        others = rewriters[number + 1 :]
        for part in rewriter.feed(piece):
            yield from rewritten(part, others, last=False)
        if last:
            yield from rewritten(rewriter.close(), others, last=True)
        return
    yield piece


class DecodingRewriter:
    """A rewriter that decodes the body's content coding first."""

    def __init__(self, rewriter: Rewriter, content_encoding: str, *, keeps_body: bool) -> None:
        self._rewriter = rewriter
        self._decoder = StreamDecoder(content_encoding)
        self._closed = False
        self.keeps_body = keeps_body
        """Whether only the head is changed."""

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


def changes_length_of(rewriter: StreamedRewriter) -> bool:
    """Whether a response may have another length after a rewriter."""
    return not (isinstance(rewriter, DecodingRewriter) and rewriter.keeps_body)


class DecompressionBomb(Exception):
    """A body decodes to more bytes than are read."""


def start_rewriter(
    asked: RequestHead, request: Request, head: ResponseHead, edit: Edit, beginning: bytes
) -> tuple[DecodingRewriter, ResponseHead] | None:
    """Begin to edit a response by its head; return the new head, too. None if nothing is edited.

    ``beginning``: the known beginning of its body. Raises DecompressionBomb if that decodes to too
    much.
    """
    coding = head.headers.get("content-encoding")
    rewriting = edit.begin(request, Response(head.status, head.headers.by_name))
    if rewriting is None or not (rewriting.keeps_body or StreamDecoder.reads(coding)):
        return None
    keeps = rewriting.keeps_body
    if not keeps and begins_as_bomb(beginning, coding):
        raise DecompressionBomb
    # A changed page in the browser's cache would be a fault without a request.
    headers = Headers(_fields(head.headers, rewriting)).with_field("cache-control", "no-store")
    version = head.version
    if not keeps and asked.version == "HTTP/1.1":
        version, headers = "HTTP/1.1", headers.with_field("transfer-encoding", "chunked")
    rewriter = DecodingRewriter(rewriting.body, "" if keeps else coding, keeps_body=keeps)
    return rewriter, replace(head, version=version, headers=headers, raw=b"")


def _fields(headers: Headers, rewriting: ActiveRewrite) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers of the edited response, in their order."""
    removed = _FOR_LATER if rewriting.keeps_body else (*_FOR_LATER, *_OF_THE_BYTES)
    for name, value in headers.fields:
        known = name.decode("latin-1").lower()
        if known in removed:
            continue
        replacement = rewriting.header(known, value.decode("latin-1"))
        if replacement is not None:
            yield name, replacement.encode("latin-1", "replace")
    for more, text in rewriting.extra_headers:
        yield more.encode("latin-1"), text.encode("latin-1", "replace")
