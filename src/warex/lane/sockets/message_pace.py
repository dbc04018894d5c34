"""The messages of one WebSocket at limited rates."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from warex.engine.handler import AwaitRate, FrameStep, Happened
from warex.engine.http.websocket import DATA, Frame
from warex.lane.state import AppliedInjection, MessageLimit


class LimitedMessage(Struct, frozen=True):
    """A frame of a message that has left at limited rates."""

    applied: tuple[AppliedInjection, ...]


class MessagePace:
    """Has each frame of data wait for its bytes; pings, pongs and Close frames only for those."""

    def __init__(self, limits: Sequence[MessageLimit], now: Callable[[], float]) -> None:
        """``now``: the second of the trial."""
        self._now = now
        self._limits = {
            from_client: [limit for limit in limits if limit.from_client is from_client]
            for from_client in (True, False)
        }

    def steps(self, steps: Iterable[FrameStep], *, from_client: bool) -> Iterator[FrameStep]:
        """Yield the steps for a side, and where they wait."""
        limits = self._limits[from_client]
        for step in steps:
            if not limits or not isinstance(step, Frame) or step.opcode not in DATA:
                yield step
                continue
            now = self._now()
            yield AwaitRate(tuple(limit.rate for limit in limits), len(step.payload), now)
            yield step
            if undelivered := tuple(_undelivered(limits, now)):
                yield Happened(LimitedMessage(undelivered))


def _undelivered(limits: Iterable[MessageLimit], now: float) -> Iterator[AppliedInjection]:
    """Yield the injections that no message has met; the client waits from now on."""
    for limit in limits:
        hits = limit.applied.messages
        if hits is not None and not hits.count:
            hits.held_since = now if hits.held_since is None else hits.held_since
            yield limit.applied
