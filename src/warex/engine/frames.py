"""The frames of a WebSocket, on their way past a handler."""

import secrets

from warex.engine.handler import Exchange, Handler
from warex.engine.http.websocket import FrameParser, serialise


class FrameFilter:
    """Asks a handler what becomes of the frames of one side."""

    def __init__(self, handler: Handler, exchange: Exchange, *, from_client: bool) -> None:
        self._handler = handler
        self._exchange = exchange
        self._from_client = from_client
        self._parser = FrameParser(from_client=from_client)

    def receive(self, data: bytes) -> bytes:
        """Return what is sent for the next bytes: nothing of a frame before it is complete."""
        sent = bytearray()
        for frame in self._parser.receive(data):
            for each in self._handler.frame(self._exchange, frame, from_client=self._from_client):
                # A client masks each frame anew (RFC 6455 §5.3).
                mask = secrets.token_bytes(4) if self._from_client and not each.raw else b""
                sent += serialise(each, mask)
        return bytes(sent)

    def rest(self) -> bytes:
        """Return what is left when the side ends: an incomplete frame."""
        return self._parser.rest()


def frame_filters(
    handler: Handler, exchange: Exchange
) -> tuple[FrameFilter, FrameFilter] | tuple[None, None]:
    """Return what asks the handler about a client's and a site's frames, if it wants them."""
    if not handler.wants_frames(exchange):
        return None, None
    return (
        FrameFilter(handler, exchange, from_client=True),
        FrameFilter(handler, exchange, from_client=False),
    )
