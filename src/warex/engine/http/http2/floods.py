"""Bounds how often a peer may send what costs it nothing (as nghttp2 does)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Rate:
    """How many at once, and how many a second in the long run."""

    burst: float
    per_second: float


USUAL: Final = Rate(1000, 33)
"""nghttp2's for reset streams; a browser that leaves a page cancels its hundred at most."""
UNSEEN: Final = Rate(30, 10)
"""Of streams that are opened and reset in one read: no client waits for their answer."""


class RateLimit:
    """A token bucket (RFC 2697) for each kind of event."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds that only grow."""
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """Tokens that were left, and when."""

    def allows(self, kind: str, rate: Rate = USUAL) -> bool:
        """Take a token; return False if there is none."""
        now = self._clock()
        left, then = self._left.get(kind, (rate.burst, now))
        left = min(rate.burst, left + (now - then) * rate.per_second) - 1
        self._left[kind] = (left, now)
        return left >= 0
