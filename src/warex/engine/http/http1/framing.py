"""Finds the end of a body: by its length, its chunks, or the end of the connection.

A reader takes the bytes as they come and says how many are the body's and what they hold; the
bytes themselves may pass on unchanged.
"""

import re
from typing import Final, Protocol

from warex.engine.http.heads import NEVER_TRAILERS, NO_FIELDS, Headers

MAX_CHUNK_LINE: Final = 16 * 1024
"""Bytes of a chunk's line and of a trailer's (Chromium's limit)."""
MAX_TRAILERS: Final = 256 * 1024

_PLAIN_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})\r\n")
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")
_STRICT_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?\r")
_STRICT_TRAILER = re.compile(
    rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)\r", re.DOTALL
)


class InvalidFraming(ValueError):
    """The end of a body cannot be determined."""


type Framed = tuple[bytes, int, bool]
"""What a reader made of some bytes: what they hold, how many of them are the message's, and whether
it ends with them."""


class BodyReader(Protocol):
    """Reads one body."""

    trailers: Headers

    def feed(self, data: bytes) -> Framed:
        """Take the next bytes, but none behind the body. Raises InvalidFraming.

        What can be read before an error is returned first: call this again with the others.
        """

    def eof(self) -> str | None:
        """Return why the body may not end here, or None."""


class LengthReader:
    """Reads a body of known length."""

    __slots__ = ("_left", "_length")
    trailers = NO_FIELDS

    def __init__(self, length: int) -> None:
        self._length = self._left = length

    def feed(self, data: bytes) -> Framed:
        """Take the next bytes."""
        size, left = len(data), self._left
        if size < left:
            self._left = left - size
            return data, size, False
        self._left = 0
        return data if size == left else data[:left], left, True

    def eof(self) -> str:
        """Return that a part is missing."""
        received = self._length - self._left
        return (
            "peer closed connection without sending complete message body "
            f"(received {received} bytes, expected {self._length})"
        )


class EofReader:
    """Reads a body that ends with the connection."""

    __slots__ = ()
    trailers = NO_FIELDS

    def feed(self, data: bytes) -> Framed:
        """Take the next bytes."""
        return data, len(data), False

    def eof(self) -> None:
        """Return None."""
        return


class ChunkReader:
    """Reads chunks (RFC 9112 §7.1).

    Those of a response are read as leniently as by Chromium (``http_chunked_decoder.cc``): a line
    may end without a carriage return, and a size may be followed by spaces and any extension.
    Those of a request are ``strict``, so that every site finds the same end.
    """

    __slots__ = ("_fields", "_is_last", "_left", "_line", "_strict", "_trailer_size", "trailers")

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._left = 0
        """Bytes left of the current chunk; -1 where its line end is due."""
        self._line = b""
        """The beginning of a line whose end has not come."""
        self._is_last = False
        """Whether the last chunk has begun: trailers follow."""
        self._fields: list[tuple[bytes, bytes]] = []
        self._trailer_size = 0
        self.trailers = NO_FIELDS

    def feed(self, data: bytes) -> Framed:
        """Take the next bytes, but none behind the body. Raises InvalidFraming."""
        pieces: list[bytes] = []
        at, size = 0, len(data)
        while at < size:
            if not (self._left or self._line or self._is_last):
                # A chunk as nearly all are: there to its end, without an extension.
                plain = _PLAIN_LINE.match(data, at)
                if plain is not None:
                    begin = plain.end()
                    end = begin + int(plain[1], 16)
                    if begin < end <= size - 2 and data[end : end + 2] == b"\r\n":
                        pieces.append(data[begin:end])
                        at = end + 2
                        continue
            if self._left > 0:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                if not self._left:
                    self._left = -1
                continue
            end = data.find(b"\n", at, at + MAX_CHUNK_LINE)
            if end < 0:
                self._line += data[at:]
                if len(self._line) >= MAX_CHUNK_LINE:
                    raise InvalidFraming("a chunk's line has no end")
                break
            line = data[at:end]
            if self._line:
                line, self._line = self._line + line, b""
            try:
                is_last = self._read_line(line)
            except InvalidFraming:
                if not at:
                    raise
                return b"".join(pieces), at, False
            at = end + 1
            if is_last:
                self.trailers = Headers(self._fields) if self._fields else NO_FIELDS
                return b"".join(pieces), at, True
        payload = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        return payload, size, False

    def _read_line(self, line: bytes) -> bool:
        """Read a line without its line feed; return whether it is the body's last."""
        if self._left < 0:
            if line != b"\r" and (line or self._strict):
                raise InvalidFraming("a chunk is longer than its size")
            self._left = 0
        elif not self._is_last:
            self._left = self._size(line)
            self._is_last = not self._left
        elif line == b"\r" or (not line and not self._strict):
            return True
        else:
            self._trailer_size += len(line)
            if self._trailer_size > MAX_TRAILERS:
                raise InvalidFraming(f"the trailers are longer than {MAX_TRAILERS} bytes")
            self._read_trailer(line)
        return False

    def _size(self, line: bytes) -> int:
        if self._strict:
            match = _STRICT_SIZE.fullmatch(line)
            if match is None:
                raise InvalidFraming("illegal chunk header")
            return int(match[1], 16)
        size = line.removesuffix(b"\r").partition(b";")[0].rstrip(b" ")
        if not _SIZE.fullmatch(size):
            raise InvalidFraming("a chunk has no size")
        return int(size, 16)

    def _read_trailer(self, line: bytes) -> None:
        if self._strict:
            match = _STRICT_TRAILER.fullmatch(line)
            if match is None:
                raise InvalidFraming("illegal trailer")
            if match[1].lower() in NEVER_TRAILERS:
                raise InvalidFraming("a trailer says how the request is read")
            self._fields.append((match[1], match[2].rstrip(b" \t")))
            return
        name, colon, value = line.removesuffix(b"\r").partition(b":")
        if colon:
            self._fields.append((name.strip(), value.strip()))

    def eof(self) -> str:
        """Return that the last chunk is missing."""
        if self._strict:
            return (
                "peer closed connection without sending complete message body "
                "(incomplete chunked read)"
            )
        return "the connection ended before the last chunk"


def chunk(payload: bytes) -> bytes:
    """Return a chunk; nothing for an empty payload, which would be the last."""
    return b"%x\r\n%b\r\n" % (len(payload), payload) if payload else b""


def last_chunk(trailers: Headers) -> bytes:
    """Return the last chunk with its trailers."""
    fields = b"".join(b"%b: %b\r\n" % field for field in trailers.fields)
    return b"0\r\n%b\r\n" % fields
