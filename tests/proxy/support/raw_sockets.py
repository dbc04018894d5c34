"""A site and a client that send exactly the given bytes, and keep what they get."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class RawSite:
    """Reads a request's head, sends ``answer``, reads until the client closes."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.answer = b""
        self.closes = False
        """Whether the site closes its side after the answer."""
        self.head = b""
        self.rest = b""
        """The bytes after the head on the last connection."""
        self.connections = 0
        self._over = threading.Event()
        self._server = socket.create_server((host, 0))
        self.port: int = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(5)

    def expects(self, answer: bytes, *, closes: bool = False) -> None:
        """Set the answer to the next connection."""
        self.answer, self.closes = answer, closes
        self.head = self.rest = b""
        self._over.clear()

    def wait(self) -> bool:
        """Wait until the connection has ended."""
        return self._over.wait(5)

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self.connections += 1
                with client, suppress(OSError):
                    client.settimeout(5)
                    self._serve(client)
                self._over.set()

    def _serve(self, client: socket.socket) -> None:
        got = b""
        while b"\r\n\r\n" not in got:
            piece = client.recv(65536)
            if not piece:
                return
            got += piece
        head, end, self.rest = got.partition(b"\r\n\r\n")
        self.head = head + end
        client.sendall(self.answer)
        if self.closes:
            client.shutdown(socket.SHUT_WR)
        while piece := client.recv(65536):
            self.rest += piece


def read_for(client: socket.socket, size: int) -> bytes:
    """Read ``size`` bytes, or fewer if the connection ends or times out."""
    got = b""
    with suppress(OSError):
        while len(got) < size and (piece := client.recv(65536)):
            got += piece
    return got


def read_to_end(client: socket.socket) -> bytes:
    """Read until the connection ends, in whichever way."""
    got = b""
    with suppress(OSError):
        while piece := client.recv(65536):
            got += piece
    return got
