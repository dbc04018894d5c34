"""An upstream proxy, as companies have them: CONNECT and absolute-form requests."""

import base64
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class UpstreamProxy:
    """Serves each client on a thread; ``password`` is ``user:password`` or None.

    ``informational`` comes before each answer to a CONNECT.
    """

    def __init__(
        self, password: str | None = None, host: str = "127.0.0.1", informational: bytes = b""
    ) -> None:
        self._informational = informational
        self.asked: list[str] = []
        self._wanted = None
        if password is not None:
            self._wanted = b"Basic " + base64.b64encode(password.encode())
        self._server = socket.create_server(
            (host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
        self.port: int = self._server.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._spawn(self._accept)
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
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        for thread in self._threads:
            thread.join(5)

    def _spawn(self, target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self._open.append(client)
                self._spawn(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = client.recv(65536)
                if not piece:
                    return
                head += piece
            method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
            if self._wanted is not None and self._wanted not in head:
                client.sendall(
                    b"HTTP/1.1 407 Authenticate\r\nProxy-Authenticate: Basic realm=office\r\n"
                    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
                )
                client.close()
                return
            self.asked.append(f"{method} {target}")
            authority = target if method == "CONNECT" else urlsplit(target).netloc
            site_url = urlsplit(f"//{authority}")
            address = site_url.hostname or "", site_url.port or 80
            site = socket.create_connection(address, timeout=30)
            self._open.append(site)
            if method == "CONNECT":
                established = b"HTTP/1.1 200 Connection established\r\n\r\n"
                client.sendall(self._informational + established)
            else:
                path = urlsplit(target).path
                site.sendall(head.replace(target.encode(), path.encode(), 1))
            self._spawn(_pipe, site, client)
            _pipe(client, site)


def _pipe(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
