"""The browser's silent repeats.

Chromium silently sends a request again, also a POST, if its connection ends, or after an answer 408
or 421. Such a repeat belongs to the same occurrence.
"""

from typing import Final

from msgspec import Struct

from warex.exchange import Request
from warex.scenarios.matching.url_patterns import normalise

REPEAT_WINDOW: Final = 0.3
"""Seconds after a request's end within which an equal one is the browser's repeat."""


class _Death[T](Struct, frozen=True):
    at: float
    identity: tuple[str, str, str]
    what: T


class ExpectedRetries[T]:
    """Ended exchanges that the browser may still repeat, each with a value."""

    def __init__(self) -> None:
        self._deaths: list[_Death[T]] = []

    def died(self, request: Request, now: float, what: T) -> None:
        """Note that an exchange has ended."""
        self._forget(now)
        self._deaths.append(_Death(now, _identity(request), what))

    def take(self, request: Request, now: float) -> T | None:
        """Return, once, the value of the exchange that the request repeats; None if it is new."""
        if not self._deaths:
            return None
        self._forget(now)
        identity = _identity(request)
        for death in self._deaths:
            if death.identity == identity:
                self._deaths.remove(death)
                return death.what
        return None

    def clear(self) -> None:
        """Expect no repeat any more."""
        self._deaths.clear()

    def _forget(self, now: float) -> None:
        self._deaths = [death for death in self._deaths if now - death.at <= REPEAT_WINDOW]


def _identity(request: Request) -> tuple[str, str, str]:
    return (request.method, normalise(request.url), request.body_digest)
