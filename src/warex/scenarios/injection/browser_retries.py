"""The browser's silent repeats.

When a connection dies under a request, Chromium sends the request again, POST too, without telling
the page; so it does after an answer 408 or 421. Such a repeat is no new occurrence but the same
one.
"""

from dataclasses import dataclass
from typing import Final

from warex.exchange import Request
from warex.scenarios.matching.url_patterns import normalise

REPEAT_WINDOW: Final = 0.3
"""Seconds after a request has died within which an equal one is the browser's own repeat."""


@dataclass(frozen=True, slots=True)
class _Death[T]:
    at: float
    identity: tuple[str, str, str]
    what: T


class ExpectedRetries[T]:
    """The exchanges that have died, each with what is known of it, while a repeat may come."""

    def __init__(self) -> None:
        self._deaths: list[_Death[T]] = []

    def died(self, request: Request, now: float, what: T) -> None:
        """Note that an exchange has died."""
        self._forget(now)
        self._deaths.append(_Death(now, _identity(request), what))

    def take(self, request: Request, now: float) -> T | None:
        """Return what the request repeats, once; None if it is a new one."""
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
        """Await no repeat: whatever comes now is new."""
        self._deaths.clear()

    def _forget(self, now: float) -> None:
        self._deaths = [death for death in self._deaths if now - death.at <= REPEAT_WINDOW]


def _identity(request: Request) -> tuple[str, str, str]:
    return (request.method, normalise(request.url), request.body_digest)
