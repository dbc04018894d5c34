"""Failed name lookups, and the outcome of each."""

import asyncio
from functools import partial
from typing import Final

from warex.clock import Clock
from warex.effects import DnsError
from warex.lane.connection_faults.tries import ConnectionTries
from warex.proxy.dns.numbers import NXDOMAIN, SERVFAIL
from warex.proxy.dns.server import LookupFault
from warex.scenarios import PlannedInjection

_CODES: Final = {"nxdomain": NXDOMAIN, "servfail": SERVFAIL, "timeout": None}

_DELIVERED_AFTER: Final = 1.0
"""Seconds after which a lookup without a response counts as delivered: every resolver waits longer,
and over UDP it is not observable whether the client still waits."""


class LookupFaults:
    """Decides which name lookups fail."""

    def __init__(self, tries: ConnectionTries, clock: Clock) -> None:
        self._tries, self._clock = tries, clock
        self._timers: set[asyncio.TimerHandle] = set()

    def plan(self, name: str) -> LookupFault | None:
        """Count a lookup of a name; return its failure, if any."""
        injections = self._tries.plan("name", name)
        effects = [effect for injection in injections for effect in injection.effects]
        wrong = next((effect for effect in effects if isinstance(effect, DnsError)), None)
        if wrong is None:
            return None
        code = _CODES[wrong.code]
        if code is None:
            self._wait(injections, self._clock.now())
        return LookupFault(code, partial(self._tries.settle, *injections, delivered=True))

    def close(self) -> None:
        """Cancel the timers."""
        for timer in self._timers:
            timer.cancel()

    def _wait(self, injections: tuple[PlannedInjection, ...], since: float) -> None:
        def over() -> None:
            self._timers.discard(timer)
            waited = self._clock.now() - since
            self._tries.settle(*injections, delivered=True, waited_s=waited)

        timer = asyncio.get_running_loop().call_later(_DELIVERED_AFTER, over)
        self._timers.add(timer)
