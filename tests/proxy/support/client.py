"""Low-level clients: HTTP/1.1 on a plain socket, HTTP/2 with access to frames."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events
from hyperframe.frame import Frame


def trusting(ca: Path, *protocols: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(ca))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def tunnelled(proxy_port: int, host: str, port: int) -> socket.socket:
    """Open a tunnel with the proxy's CONNECT."""
    raw = socket.create_connection(("127.0.0.1", proxy_port), timeout=30)
    raw.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        piece = raw.recv(1)
        if not piece:
            break
        head += piece
    if b" 200 " not in head:
        raw.close()
        raise ConnectionError(head.decode())
    return raw


@contextmanager
def secure(
    proxy_port: int, host: str, port: int, ca: Path, *protocols: str
) -> Iterator[ssl.SSLSocket]:
    """Open a TLS connection to a host through the proxy."""
    raw = tunnelled(proxy_port, host, port)
    context = trusting(ca, *protocols)
    with raw, context.wrap_socket(raw, server_hostname=host) as wrapped:
        yield wrapped


def read_until_closed(connection: socket.socket) -> bytes:
    data = b""
    while piece := connection.recv(65536):
        data += piece
    return data


def was_reset(connection: socket.socket) -> bool:
    """Read until the peer ends the connection; return whether it was with a reset.

    It is read below TLS: ``ssl`` of Python 3.12.1 reports a reset as an end of file.
    """
    try:
        while socket.socket.recv(connection, 65536):
            pass
    except ConnectionResetError:
        return True
    return False


def read_answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """Read an answer with a content length; return its head and its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {data!r}")
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionError(f"closed after {data!r}")
        body += piece
    return head, body


@dataclass
class Got:
    """The data received on a stream so far."""

    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    trailers: list[tuple[bytes, bytes]] = field(default_factory=list)
    ahead: list[dict[bytes, bytes]] = field(default_factory=list)
    """The headers of informational answers."""
    ended: bool = False
    reset: int | None = None

    @property
    def status(self) -> int:
        return int(dict(self.headers)[b":status"])


class H2Client:
    """One HTTP/2 connection, driven step by step."""

    def __init__(
        self, connection: socket.socket, authority: str, window: int | None = None
    ) -> None:
        """``window``: each stream's initial flow-control window; then none is granted by itself."""
        self.connection, self._authority, self._window = connection, authority, window
        self.conn = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding=None))
        if window is not None:
            # As if acknowledged, so that it is in the first SETTINGS.
            self.conn.local_settings.initial_window_size = window
            self.conn.local_settings.acknowledge()
        self.conn.initiate_connection()
        self.conn.increment_flow_control_window(2**24)
        self.streams: dict[int, Got] = {}
        self.flush()

    def flush(self) -> None:
        self.connection.sendall(self.conn.data_to_send())

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes = b"",
        headers: list[tuple[str, str]] | None = None,
        *,
        flush: bool = True,
        ends: bool = True,
    ) -> int:
        stream = self.conn.get_next_available_stream_id()
        pseudo = [
            (":method", method),
            (":scheme", "https"),
            (":authority", self._authority),
            (":path", path),
        ]
        self.conn.send_headers(stream, [*pseudo, *(headers or [])], end_stream=ends and not body)
        if body:
            self.conn.send_data(stream, body, end_stream=True)
        self.streams[stream] = Got()
        if flush:
            self.flush()
        return stream

    def give_up(self, stream: int, code: int = 8) -> None:
        self.conn.reset_stream(stream, code)
        self.flush()

    def send(self, frame: Frame) -> None:
        """Send a frame without changing the library's state."""
        self.connection.sendall(frame.serialize())

    def wait(self, stream: int) -> Got:
        """Read until the stream has ended or was reset."""
        got = self.streams[stream]
        return self.read_until(lambda: got.ended or got.reset is not None, stream)

    def read_until(self, happened: Callable[[], bool], stream: int) -> Got:
        """Read until ``happened`` returns true."""
        while not happened():
            data = self.connection.recv(65536)
            if not data:
                raise ConnectionError("the connection ended")
            for event in self.conn.receive_data(data):
                self._take(event)
            self.flush()
        return self.streams[stream]

    def read_until_window(self, stream: int) -> None:
        """Read until there is room for another frame."""
        self.flush()
        self.read_until(lambda: self.conn.local_flow_control_window(stream) >= 2**14, stream)

    def _take(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.ResponseReceived():
                self.streams[event.stream_id].headers = list(event.headers)
            case h2.events.TrailersReceived():
                self.streams[event.stream_id].trailers = list(event.headers)
            case h2.events.DataReceived():
                self.streams[event.stream_id].body += event.data
                if self._window is None:
                    self.conn.acknowledge_received_data(
                        event.flow_controlled_length, event.stream_id
                    )
            case h2.events.InformationalResponseReceived():
                self.streams[event.stream_id].ahead.append(dict(event.headers))
            case h2.events.StreamEnded():
                self.streams[event.stream_id].ended = True
            case h2.events.StreamReset():
                self.streams[event.stream_id].reset = int(event.error_code)
            case _:
                pass
