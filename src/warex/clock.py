"""The only module that reads the time, so that tests and replays can replace it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache


def iso(seconds: float) -> str:
    """Return a Unix time as ISO 8601 in UTC with milliseconds, the format of every event."""
    second, millisecond = divmod(round(seconds * 1_000_000) // 1000, 1000)
    return f"{_iso_second(second)}.{millisecond:03d}+00:00"


@lru_cache(maxsize=8)
def _iso_second(second: int) -> str:
    """Return a whole second without its zone; many events have the same."""
    return datetime.fromtimestamp(second, UTC).isoformat()[: -len("+00:00")]


class Clock:
    """Counts the seconds of a trial since its creation.

    ``now`` is monotonic, so system clock changes do not affect events; ``wall`` is Unix time.
    """

    __slots__ = ("_start", "monotonic", "wall")

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,  # noqa: TID251 - this is the module that owns it
    ) -> None:
        self.monotonic, self.wall = monotonic, wall
        self._start = monotonic()

    def now(self) -> float:
        """Return the seconds since this clock was made."""
        return self.monotonic() - self._start
