"""The open LLM calls over one WebSocket."""

from collections import deque
from collections.abc import Iterator

from msgspec import Struct, field

from warex.lane.traffic.llm_tap import LlmTap
from warex.llm.recognition.websocket import SocketEvent


class LlmWebsocketCall(Struct):
    """One call; it has no tap if it generates nothing or was not understood."""

    exchange: str
    tap: LlmTap | None
    status: int = 200
    """Another status if the first message is an error that states it."""


class LlmWebsocketCalls(Struct):
    """The calls of one WebSocket; those of a stream are answered in order."""

    exchange: str
    """The exchange of the WebSocket; a call's is ``x5/1``, ``x5/2``…"""
    count: int = 0
    _streams: dict[str, deque[LlmWebsocketCall]] = field(default_factory=dict)

    def begin(self, stream: str, tap: LlmTap | None) -> None:
        """Track one more call."""
        self.count += tap is not None
        call = LlmWebsocketCall(f"{self.exchange}/{self.count}", tap)
        self._streams.setdefault(stream, deque()).append(call)

    def receive(self, event: SocketEvent, now: float) -> LlmWebsocketCall | None:
        """Take a server's event; return the call that it ends, if any."""
        # An error may have no stream, if the server did not know it yet.
        stream = event.stream if event.stream in self._streams else next(iter(self._streams), "")
        calls = self._streams.get(stream)
        if not calls:
            return None
        if (tap := calls[0].tap) is not None:
            if tap.first_byte is None:
                calls[0].status = event.status
            if data := event.data if calls[0].status == 200 else event.refusal:
                tap.add(data, now)
        if not event.is_end:
            return None
        over = calls.popleft()
        if not calls:
            del self._streams[stream]
        return over

    def abandon(self) -> Iterator[LlmWebsocketCall]:
        """Remove and yield the open calls."""
        left, self._streams = self._streams, {}
        for calls in left.values():
            yield from calls
