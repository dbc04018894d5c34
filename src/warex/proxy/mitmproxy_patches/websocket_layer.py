"""WAREX's WebSocket layer in mitmproxy: relays the bytes unchanged and reads a copy.

mitmproxy's own layer parses and reassembles every frame, with other compression and masks. A frame
that wsproto cannot parse (RFC 7692 allows more, and peers violate it) would end the connection.
"""

from dataclasses import dataclass

from mitmproxy import http
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import websocket

from warex.proxy.exchange.state import state_of
from warex.proxy.net.websocket_frames import (
    ABNORMAL,
    Closed,
    FrameEvent,
    FrameReader,
    NegotiatedExtensions,
    Opaque,
)


@dataclass(frozen=True, slots=True)
class WebsocketEvent:
    """A frame event on a WebSocket."""

    flow: http.HTTPFlow
    from_client: bool
    seen: FrameEvent


@dataclass
class WarexWebsocketHook(commands.StartHook):
    """A frame event was read from a WebSocket."""

    sighting: WebsocketEvent
    blocking = True


class WarexWebsocketLayer(websocket.WebsocketLayer):
    """Relays a WebSocket's bytes, and reports its frames."""

    _client: FrameReader | None = None
    _site: FrameReader | None = None
    """Each is None if frames cannot be read."""
    _closed = False
    """Whether the end has been reported."""

    def start(self, _: events.Event) -> layer.CommandGenerator[None]:
        """Read the negotiated extensions."""
        assert self.flow.response is not None
        answered = self.flow.response.headers.get("Sec-WebSocket-Extensions", "")
        try:
            negotiation = NegotiatedExtensions(answered)
        except ValueError as error:
            yield from self._report(False, Opaque(str(error)))
        else:
            state = state_of(self.flow)
            keep = state is not None and state.traffic.reads_messages
            self._client = FrameReader(negotiation, from_client=True, keep=keep)
            self._site = FrameReader(negotiation, from_client=False, keep=keep)
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

    def _report(self, from_client: bool, seen: FrameEvent) -> layer.CommandGenerator[None]:
        if isinstance(seen, Opaque):
            self._client = self._site = None
        if isinstance(seen, Closed):
            if self._closed:
                return
            self._closed = True
        yield WarexWebsocketHook(WebsocketEvent(self.flow, from_client, seen))


def install() -> None:
    """Have mitmproxy use our layer."""
    websocket.WebsocketLayer = WarexWebsocketLayer  # type: ignore[misc]
