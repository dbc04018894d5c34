"""WAREX's WebSocket layer in mitmproxy: relays the bytes unchanged and reads a copy.

mitmproxy's own layer parses and reassembles every frame, with other compression and masks. A frame
that it cannot parse (RFC 7692 allows more, and peers violate it) would end the connection.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mitmproxy import http
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import websocket

from warex.engine.http.websocket import FrameParser
from warex.engine.http.websocket_messages import (
    ABNORMAL,
    Closed,
    MessageReader,
    Opaque,
    SocketEvent,
    agrees_on_deflate,
)
from warex.llm.body.framing import MAX_BODY
from warex.proxy.exchange.state import state_of


@dataclass(frozen=True, slots=True)
class WebsocketEvent:
    """A frame event on a WebSocket."""

    flow: http.HTTPFlow
    from_client: bool
    seen: SocketEvent


@dataclass
class WarexWebsocketHook(commands.StartHook):
    """A frame event was read from a WebSocket."""

    sighting: WebsocketEvent
    blocking = True


class WarexWebsocketLayer(websocket.WebsocketLayer):
    """Relays a WebSocket's bytes, and reports its frames."""

    _client: "_Direction | None" = None
    _site: "_Direction | None" = None
    """Each is None if frames cannot be read."""
    _closed = False
    """Whether the end has been reported."""

    def start(self, _: events.Event) -> layer.CommandGenerator[None]:
        """Read the negotiated extensions."""
        assert self.flow.response is not None
        answered = self.flow.response.headers.get("Sec-WebSocket-Extensions", "")
        try:
            deflates = agrees_on_deflate(answered)
        except ValueError as error:
            yield from self._report(False, Opaque(str(error)))
        else:
            state = state_of(self.flow)
            keep = MAX_BODY if state is not None and state.traffic.reads_messages else 0
            self._client = _Direction(deflates=deflates, keep=keep, from_client=True)
            self._site = _Direction(deflates=deflates, keep=keep, from_client=False)
        self._handle_event = self.relay  # type: ignore[method-assign, assignment]

    _handle_event = start

    def relay(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Relay an event."""
        assert isinstance(event, events.ConnectionEvent)
        client, site = self.context.client, self.context.server
        from_client = event.connection == client
        if isinstance(event, events.DataReceived):
            direction = self._client if from_client else self._site
            if direction is not None:
                for seen in direction.read(event.data):
                    yield from self._report(from_client, seen)
            if self.flow.error is None:
                yield commands.SendData(site if from_client else client, event.data)
                return
            # A hook failed: its data must not be forwarded.
        yield from self._report(from_client, Closed(ABNORMAL))
        yield commands.CloseConnection(site)
        yield commands.CloseConnection(client)
        self.flow.live = False
        self._handle_event = self.done  # type: ignore[method-assign]

    def _report(self, from_client: bool, seen: SocketEvent) -> layer.CommandGenerator[None]:
        if isinstance(seen, Opaque):
            self._client = self._site = None
        if isinstance(seen, Closed):
            if self._closed:
                return
            self._closed = True
        yield WarexWebsocketHook(WebsocketEvent(self.flow, from_client, seen))


class _Direction:
    """Reads what one side sends."""

    def __init__(self, *, deflates: bool, keep: int, from_client: bool) -> None:
        self._parser = FrameParser(from_client=from_client)
        self._reader = MessageReader(deflates=deflates, keep=keep)

    def read(self, data: bytes) -> Iterator[SocketEvent]:
        """Yield the events of the next bytes."""
        events = map(self._reader.read, self._parser.receive(data))
        yield from (event for event in events if event is not None)


def install() -> None:
    """Have mitmproxy use our layer."""
    websocket.WebsocketLayer = WarexWebsocketLayer  # type: ignore[misc]
