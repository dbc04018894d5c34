"""The frames of a WebSocket, on their way past a handler."""

import secrets
from collections.abc import Iterable

from warex.engine.handler import Exchange, FrameUse, Handler
from warex.engine.http.websocket import Frame, FrameParser, serialise


class FrameFilter:
    """Asks a handler what becomes of the frames of one side.

    Frames that are read pass as their bytes come, frames that may change once they are complete.
    """

    def __init__(
        self, handler: Handler, exchange: Exchange, use: FrameUse, *, from_client: bool
    ) -> None:
        self._handler = handler
        self._exchange = exchange
        self._use = use
        self._from_client = from_client
        self._parser = FrameParser(from_client=from_client)

    def receive(self, data: bytes) -> bytes:
        """Return what is sent for the next bytes."""
        frames = self._parser.receive(data)
        if self._use == "read":
            # A list: each is read, also after one that stops the bytes.
            passing = [bool([*self._asked(frame)]) for frame in frames]
            return data if all(passing) else b""
        sent = bytearray()
        for frame in frames:
            for each in self._asked(frame):
                # A client masks each frame anew (RFC 6455 §5.3).
                mask = secrets.token_bytes(4) if self._from_client and not each.raw else b""
                sent += serialise(each, mask)
        return bytes(sent)

    def rest(self) -> bytes:
        """Return what is left when the side ends: an incomplete frame that was held."""
        return self._parser.rest() if self._use == "change" else b""

    def _asked(self, frame: Frame) -> Iterable[Frame]:
        return self._handler.frame(self._exchange, frame, from_client=self._from_client)


def frame_filters(
    handler: Handler, exchange: Exchange
) -> tuple[FrameFilter, FrameFilter] | tuple[None, None]:
    """Return what asks the handler about a client's and a site's frames, if it wants them."""
    use = handler.wants_frames(exchange)
    if use is None:
        return None, None
    return (
        FrameFilter(handler, exchange, use, from_client=True),
        FrameFilter(handler, exchange, use, from_client=False),
    )
