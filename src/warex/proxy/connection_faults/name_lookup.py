"""Failed name lookups, and the outcome of each."""

import asyncio
from dataclasses import dataclass
from typing import Final

from warex.clock import Clock
from warex.effects import DnsError
from warex.proxy.connection_faults.tries import ConnectionTries
from warex.proxy.dns import messages
from warex.scenarios import PlannedInjection

_CODES: Final = {"nxdomain": messages.NXDOMAIN, "servfail": messages.SERVFAIL, "timeout": None}

_DELIVERED_AFTER: Final = 1.0
"""Seconds after which a lookup without a response counts as delivered: every resolver waits longer,
and over UDP it is not observable whether the client still waits."""


@dataclass(frozen=True, slots=True)
class FailedLookup:
    """A lookup with an error response or none."""

    code: int | None
    """The response code; None for no response."""
    _injections: tuple[PlannedInjection, ...]
    _attempts: ConnectionTries

    def mark_delivered(self) -> None:
        """Note that the response was sent."""
        for injection in self._injections:
            self._attempts.settle(injection, delivered=True)

    def mark_timed_out(self, seconds: float) -> None:
        """Note that the client has had no response for so long."""
        for injection in self._injections:
            self._attempts.settle(injection, delivered=True, waited_s=seconds)


class LookupFaults:
    """Decides which name lookups fail."""

    def __init__(self, attempts: ConnectionTries, clock: Clock) -> None:
        self._attempts, self._clock = attempts, clock
        self._timers: set[asyncio.TimerHandle] = set()

    def plan(self, name: str) -> FailedLookup | None:
        """Count a lookup of a name; return its failure, if any."""
        injections = self._attempts.plan("name", name)
        effects = [effect for injection in injections for effect in injection.effects]
        wrong = next((effect for effect in effects if isinstance(effect, DnsError)), None)
        if wrong is None:
            return None
        failing = FailedLookup(_CODES[wrong.code], injections, self._attempts)
        if failing.code is None:
            self._wait(failing, self._clock.now())
        return failing

    def close(self) -> None:
        """Cancel the timers."""
        for timer in self._timers:
            timer.cancel()

    def _wait(self, failing: FailedLookup, since: float) -> None:
        def over() -> None:
            self._timers.discard(timer)
            failing.mark_timed_out(self._clock.now() - since)

        timer = asyncio.get_running_loop().call_later(_DELIVERED_AFTER, over)
        self._timers.add(timer)
