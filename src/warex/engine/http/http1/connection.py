"""HTTP/1.1 on one connection (RFC 9112): what both roles share."""

from typing import Final

from warex.engine.http.exchange import ExchangeState
from warex.engine.http.heads import Headers
from warex.engine.http.http1.framing import BodyReader, chunk, last_chunk


class Http1Connection:
    """What both roles share."""

    has_more: Final = False

    def __init__(self) -> None:
        self._stream = 1
        self._state = ExchangeState()
        self._method = ""
        self._reader: BodyReader | None = None
        self._buffer: bytes | bytearray = b""
        """Received and not parsed."""
        self._searched = 0
        """How much of the buffer was searched for the end of a head."""
        self._out: list[bytes] = []
        self._sends_chunks = False
        self._sends_raw = False
        self._sends_body = True
        self._sent = 0
        self.must_close = False
        self.is_ended = False
        """Whether nothing more is read."""

    def data_to_send(self) -> bytes:
        """Return what is to be written, once."""
        out = self._out
        if not out:
            return b""
        self._out = []
        return out[0] if len(out) == 1 else b"".join(out)

    def acknowledge(self, stream: int, size: int) -> None:
        """Do nothing: TCP has the flow control."""

    def queued(self, stream: int) -> int:
        """Return 0: TCP has the flow control."""
        return 0

    def sent(self, stream: int) -> int:
        """Return the bytes of the body that were sent, without framing."""
        return self._sent if stream == self._stream else 0

    def unread(self) -> bytes:
        """Take what was received and not parsed."""
        data, self._buffer = bytes(self._buffer), b""
        return data

    def _keep(self, data: bytes) -> None:
        if isinstance(self._buffer, bytearray):
            self._buffer += data
        elif self._buffer:
            self._buffer = bytearray(self._buffer) + data
        else:
            self._buffer = data

    def _take(self, size: int) -> tuple[bytes, bytes]:
        """Empty the buffer; return its first bytes, and the others."""
        data = bytes(self._buffer)
        self._buffer, self._searched = b"", 0
        return (data, b"") if size == len(data) else (data[:size], data[size:])

    def _send_body(self, payload: bytes, raw: bytes) -> None:
        self._sent += len(payload)
        if self._sends_raw:
            if raw:
                self._out.append(raw)
        elif self._sends_body and payload:
            self._out.append(chunk(payload) if self._sends_chunks else payload)

    def _send_end(self, trailers: Headers) -> None:
        if self._sends_chunks and not self._sends_raw:
            self._out.append(last_chunk(trailers))
