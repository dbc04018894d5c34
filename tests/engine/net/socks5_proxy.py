"""A SOCKS5 proxy (RFC 1928) for one test."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def socks5_proxy(user: str | None = None, password: str = "") -> Iterator[tuple[int, list[str]]]:
    """Serve clients; yield the port, and the hosts that were asked for."""
    asked: list[str] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=speak, args=(client,), daemon=True).start()

    def speak(client: socket.socket) -> None:
        with suppress(OSError), client:
            count = exactly(client, 2)[1]
            methods = exactly(client, count)
            wanted = 0 if user is None else 2
            if wanted not in methods:
                client.sendall(b"\x05\xff")
                return
            client.sendall(bytes([5, wanted]))
            if user is not None:
                exactly(client, 1)
                inputs = [exactly(client, exactly(client, 1)[0]).decode() for _ in range(2)]
                client.sendall(bytes([1, inputs != [user, password]]))
            kind = exactly(client, 4)[3]
            length = {1: 4, 4: 16}.get(kind) or exactly(client, 1)[0]
            raw = exactly(client, length)
            family = {1: socket.AF_INET, 4: socket.AF_INET6}.get(kind)
            host = raw.decode() if family is None else socket.inet_ntop(family, raw)
            asked.append(host)
            port = int.from_bytes(exactly(client, 2))
            try:
                site = socket.create_connection((host, port), timeout=30)
            except OSError:
                client.sendall(b"\x05\x05\x00\x01" + bytes(6))
                return
            with site:
                client.sendall(b"\x05\x00\x00\x01" + bytes(6))
                back = threading.Thread(target=pipe, args=(site, client), daemon=True)
                back.start()
                pipe(client, site)
                back.join(5)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], asked
        server.shutdown(socket.SHUT_RDWR)


def exactly(peer: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = peer.recv(count - len(data))
        if not piece:
            raise OSError("the client has left")
        data += piece
    return data


def pipe(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
