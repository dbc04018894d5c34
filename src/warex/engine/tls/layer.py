"""TLS in memory: bytes of the wire in and out, and what they carry."""

import ssl
from contextlib import suppress
from typing import Final

_PIECE: Final = 64 * 1024


class TlsLayer:
    """TLS over the bytes of a connection, or of another layer."""

    __slots__ = (
        "_is_server",
        "deferred_bytes",
        "error",
        "has_ended",
        "incoming",
        "outgoing",
        "session",
        "unwritten",
    )

    def __init__(
        self,
        context: ssl.SSLContext,
        *,
        server_side: bool = False,
        server_hostname: str | None = None,
        resumes: ssl.SSLSession | None = None,
    ) -> None:
        """``resumes``: an earlier session of the same context, which is offered to the server."""
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.session = context.wrap_bio(
            self.incoming, self.outgoing, server_side=server_side, server_hostname=server_hostname
        )
        if resumes is not None:
            self.session.session = resumes
        self._is_server = server_side
        self.unwritten: list[bytes] = []
        """Bytes that wait until the peer has shaken hands again (RFC 5246 §7.4.1.1)."""
        self.deferred_bytes = 0
        """Bytes of ``outgoing`` that leave with those behind them."""
        self.has_ended = False
        """Whether the peer has closed it in order, or broken it."""
        self.error: str | None = None
        """How the peer has broken it, in OpenSSL's words."""

    def shake_hands(self) -> bool:
        """Go on with the handshake; return whether it is done. Raises SSLError."""
        try:
            self.session.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    @property
    def is_ahead(self) -> bool:
        """Whether the peer has ended its handshake before: it waits for nothing (RFC 8446 §2)."""
        return self._is_server and self.session.version() == "TLSv1.3"

    def write(self, data: bytes) -> None:
        """Encrypt bytes, once no other handshake is under way. Raises SSLError."""
        if data:
            self.unwritten.append(data)
        while self.unwritten:
            try:
                self.session.write(self.unwritten[0])
            except ssl.SSLWantReadError:
                return
            del self.unwritten[0]

    def close(self) -> None:
        """Say that no more comes from this side; the alert is in ``outgoing``."""
        try:  # noqa: SIM105 - each connection does this
            self.session.unwrap()
        except ssl.SSLError:  # It would wait for the peer's alert.
            pass

    def read(self) -> bytes:
        """Return what has come through; what had to wait for it is in ``outgoing``."""
        pieces: list[bytes] = []
        read = self.session.read
        try:
            while True:
                piece = read(_PIECE)
                if not piece:
                    self.has_ended = True
                    break
                pieces.append(piece)
                if not self.incoming.pending:
                    break  # A record fits into a piece.
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.has_ended = True
        except ssl.SSLError as error:
            self.has_ended, self.error = True, ssl_reason(error)
        if self.unwritten and not self.has_ended:
            with suppress(ssl.SSLError):  # The peer's error is read, too.
                self.write(b"")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def ssl_reason(error: ssl.SSLError) -> str:
    """Return an error in OpenSSL's words, such as ``tlsv1 alert unknown ca``."""
    return (error.reason or str(error)).replace("_", " ").lower()
