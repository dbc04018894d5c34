"""Our own WebSocket layer in mitmproxy: bytes pass as they are, and a copy is read.

mitmproxy's own takes every frame apart and makes it anew: compressed otherwise, masked otherwise.
What it cannot read (RFC 7692 allows more than wsproto knows, and peers send more than it allows)
would break the connection. Here nothing that is sent can.
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
    """What was seen on a WebSocket."""

    flow: http.HTTPFlow
    from_client: bool
    seen: FrameEvent


@dataclass
class WarexWebsocketHook(commands.StartHook):
    """Something was seen on a WebSocket."""

    sighting: WebsocketEvent
    blocking = True


class WarexWebsocketLayer(websocket.WebsocketLayer):
    """Relays a WebSocket's bytes, and tells what they were."""

    _client: FrameReader | None = None
    _site: FrameReader | None = None
    """Each None where it cannot be read."""
    _closed = False
    """Whether the end has been told."""

    def start(self, _: events.Event) -> layer.CommandGenerator[None]:
        """Look what was agreed on."""
        assert self.flow.response is not None
        answered = self.flow.response.headers.get("Sec-WebSocket-Extensions", "")
        try:
            negotiation = NegotiatedExtensions(answered)
        except ValueError as error:
            yield from self._report(False, Opaque(str(error)))
        else:
            state = state_of(self.flow)
            keep = state is not None and state.llm_websocket is not None
            self._client = FrameReader(negotiation, from_client=True, keep=keep)
            self._site = FrameReader(negotiation, from_client=False, keep=keep)
        self._handle_event = self.relay  # type: ignore[method-assign, assignment]

    _handle_event = start

    def relay(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Pass on what came."""
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
            # A hook broke: what it was told of must not go on.
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
    """Have mitmproxy make our layers."""
    websocket.WebsocketLayer = WarexWebsocketLayer  # type: ignore[misc]
