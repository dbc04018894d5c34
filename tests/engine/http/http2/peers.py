"""Both ends of an HTTP/2 connection against another implementation, without a wire."""

from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection

from warex.engine.http.http2.client import Http2Client
from warex.engine.http.http2.connection import Event
from warex.engine.http.http2.server import Http2Server

GET = [
    (b":method", b"GET"),
    (b":scheme", b"https"),
    (b":authority", b"a.example"),
    (b":path", b"/b?c"),
]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def library(*, is_client: bool, window: int | None = None) -> H2Connection:
    conn = H2Connection(
        H2Configuration(
            client_side=is_client,
            header_encoding=None,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
    )
    if window is not None:
        # As if acknowledged, so that it is in the first SETTINGS.
        conn.local_settings.initial_window_size = window
        conn.local_settings.acknowledge()
    conn.initiate_connection()
    return conn


def receive_all(connection: Http2Client | Http2Server, data: bytes) -> list[Event]:
    """Return the events of bytes, in as many turns as they take."""
    events = connection.receive(data)
    while connection.has_more:
        events += connection.receive(b"")
    return events


class ServedClient:
    """A client of hyper-h2 and our connection towards it."""

    def __init__(self, window: int | None = None) -> None:
        self.clock = Clock()
        self.server = Http2Server(self.clock)
        self.client = library(is_client=True, window=window)
        self.exchange()

    def exchange(self) -> tuple[list[Event], list[Any]]:
        """Carry bytes both ways until none are left; the events of both."""
        ours: list[Event] = []
        theirs: list[Any] = []
        while True:
            existing, back = self.client.data_to_send(), self.server.data_to_send()
            if not existing and not back:
                return ours, theirs
            ours += receive_all(self.server, existing) if existing else []
            theirs += self.client.receive_data(back) if back else []

    def ask(
        self, headers: list[tuple[bytes, bytes]] = GET, body: bytes | None = None
    ) -> list[Event]:
        stream = self.client.get_next_available_stream_id()
        self.client.send_headers(stream, headers, end_stream=body is None)
        if body is not None:
            self.client.send_data(stream, body, end_stream=True)
        return self.exchange()[0]


class AskedSite:
    """A site of hyper-h2 and our connection towards it."""

    def __init__(self, window: int | None = None, streams: int | None = None) -> None:
        self.clock = Clock()
        self.client = Http2Client(self.clock)
        self.site = library(is_client=False, window=window)
        if streams is not None:
            self.site.update_settings({3: streams})
        self.exchange()

    def exchange(self) -> tuple[list[Event], list[Any]]:
        """Carry bytes both ways until none are left; the events of both."""
        ours: list[Event] = []
        theirs: list[Any] = []
        while True:
            existing, back = self.client.data_to_send(), self.site.data_to_send()
            if not existing and not back:
                return ours, theirs
            theirs += self.site.receive_data(existing) if existing else []
            ours += receive_all(self.client, back) if back else []
