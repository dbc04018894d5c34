"""A limit of bytes a second, which needs no clock of its own."""

from typing import Final

_PIECE_S: Final = 0.02
"""Seconds of its rate that leave at once: short for a person, and few enough wake-ups."""
_LARGEST: Final = 64 * 1024
CATCH_UP_S: Final = 0.25
"""Seconds of a limit that are made up after a part was late, by this process or by the client."""


class ByteRate:
    """Bytes a second, after a silence with a burst at once; several senders may share it.

    What a sender was late for is made up: the rate holds over time, whatever the event loop does.
    """

    __slots__ = ("_burst_s", "_free_at", "_rate", "piece")

    def __init__(self, rate: float, burst: int = 0) -> None:
        """``rate``: bytes a second, above 0; ``burst``: bytes."""
        self._rate = rate
        self._burst_s = burst / rate
        self._free_at = float("-inf")
        """When the line has sent all that was reserved."""
        self.piece: Final = max(1, min(int(rate * _PIECE_S), _LARGEST))
        """Bytes that are sent at once."""

    def reserve(self, size: int, now: float, since: float) -> float:
        """Return the seconds after which bytes may leave, which are then counted.

        ``since``: from when on the sender has had something to send.
        """
        begin = max(self._free_at, since - self._burst_s)
        self._free_at = begin + size / self._rate
        return self._free_at - now
