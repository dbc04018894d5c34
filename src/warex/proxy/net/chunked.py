"""Reads chunks (RFC 9112 §7.1) as leniently as Chromium (``http_chunked_decoder.cc``).

A line may end without a carriage return, and a size may be followed by spaces and any extension.
The interface is that of h11's body readers.
"""

import re
from collections.abc import Callable
from typing import Final

import h11
from h11._receivebuffer import ReceiveBuffer
from mitmproxy import http

_LONGEST_LINE: Final = 16 * 1024
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")


class LenientChunkedReader:
    """Reads the chunks of a response."""

    def __init__(self, found: Callable[[http.Headers], None]) -> None:
        """``found`` is called with the trailers, if there are any."""
        self._found = found
        self._left = 0
        """Bytes left in the current chunk."""
        self._after_chunk = False
        self._trailers: list[tuple[bytes, bytes]] | None = None
        """The trailers; None before the last chunk."""

    def __call__(self, buffer: ReceiveBuffer) -> h11.Data | h11.EndOfMessage | None:
        """Return the next event; None if more data is needed."""
        while not self._left:
            line = self._line(buffer)
            if line is None:
                return None
            if self._trailers is not None:
                if not line:
                    if self._trailers:
                        self._found(http.Headers(self._trailers))
                    return h11.EndOfMessage()
                name, colon, value = line.partition(b":")
                if colon:
                    self._trailers.append((name.strip(), value.strip()))
            elif self._after_chunk:
                if line:
                    raise h11.RemoteProtocolError("a chunk is longer than its size")
                self._after_chunk = False
            else:
                self._begin(line)
        data = buffer.maybe_extract_at_most(self._left)
        if data is None:
            return None
        self._left -= len(data)
        self._after_chunk = not self._left
        return h11.Data(data=bytes(data))

    def _begin(self, line: bytes) -> None:
        size = line.partition(b";")[0].rstrip(b" ")
        if not _SIZE.fullmatch(size):
            raise h11.RemoteProtocolError("a chunk has no size")
        self._left = int(size, 16)
        if not self._left:
            self._trailers = []

    def _line(self, buffer: ReceiveBuffer) -> bytes | None:
        end = buffer._data.find(b"\n", 0, _LONGEST_LINE)
        if end < 0:
            if len(buffer) >= _LONGEST_LINE:
                raise h11.RemoteProtocolError("a chunk's line has no end")
            return None
        line = bytes(buffer.maybe_extract_at_most(end + 1) or b"")
        return line.removesuffix(b"\n").removesuffix(b"\r")

    def read_eof(self) -> h11.EndOfMessage:
        """Raise RemoteProtocolError: the connection ended before the last chunk."""
        raise h11.RemoteProtocolError("the connection ended before the last chunk")
