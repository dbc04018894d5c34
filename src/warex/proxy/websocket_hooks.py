"""The hooks of WebSockets: each message and each end is recorded, none is kept.

``warex_websocket`` is our own layer's; the others are those of mitmproxy's, in stock mitmproxy.
"""

from mitmproxy import http

from warex.proxy.hooks import Hooks, fail_closed
from warex.proxy.ongoing import ongoing_of
from warex.proxy.websocket_frames import Closed, Message, Opaque
from warex.proxy.websocket_layer import Sighting
from warex.traces import WebSocketSeen


class WebSocketHooks(Hooks):
    """Records what passes over WebSockets."""

    @fail_closed
    def warex_websocket(self, sighting: Sighting) -> None:
        """Record what was seen."""
        ongoing = ongoing_of(sighting.flow)
        if ongoing is None:
            return
        exchange, from_client = ongoing.exchange.id, sighting.from_client
        match sighting.seen:
            case Message(size, text):
                event = WebSocketSeen(
                    exchange=exchange, what="message", from_client=from_client, size=size, text=text
                )
            case Closed(code):
                event = WebSocketSeen(
                    exchange=exchange, what="closed", from_client=from_client, close_code=code
                )
            case Opaque(reason):
                event = WebSocketSeen(
                    exchange=exchange, what="opaque", from_client=from_client, reason=reason
                )
        self.recorder.write(event)

    @fail_closed
    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Record a message of a WebSocket; keep none of it in memory."""
        ongoing, channel = ongoing_of(flow), flow.websocket
        if ongoing is None or channel is None:
            return
        message = channel.messages[-1]
        self.recorder.write(
            WebSocketSeen(
                exchange=ongoing.exchange.id,
                what="message",
                from_client=message.from_client,
                size=len(message.content),
                text=message.is_text,
            )
        )
        channel.messages.clear()

    @fail_closed
    def websocket_end(self, flow: http.HTTPFlow) -> None:
        """Record the end of a WebSocket."""
        ongoing, channel = ongoing_of(flow), flow.websocket
        if ongoing is None or channel is None:
            return
        self.recorder.write(
            WebSocketSeen(
                exchange=ongoing.exchange.id,
                what="closed",
                from_client=bool(channel.closed_by_client),
                close_code=channel.close_code,
            )
        )
