"""Attempts to reach a site, judged and recorded: what was planned, and what became of it.

An attempt ends where no exchange has begun: at a name that is not found, a connection that is
refused, a certificate that nobody trusts.
"""

from dataclasses import dataclass

from warex.faults import Effect, Point
from warex.proxy.ledger import missed, planned
from warex.proxy.recorder import Recorder
from warex.scenarios import Injection, Injector
from warex.traces import FaultDelivered
from warex.traces.redact import redact_url


@dataclass(eq=False, slots=True)
class Met:
    """An attempt that fails: what makes it fail, and since when."""

    injection: Injection
    since: float

    @property
    def effect(self) -> Effect:
        """What the client meets; a connection fault has exactly one effect."""
        return self.injection.effects[0]


class AttemptLedger:
    """Judges attempts, and settles each failure once."""

    def __init__(self, injector: Injector, recorder: Recorder) -> None:
        self._injector, self._recorder = injector, recorder
        self._open: set[Met] = set()

    def judge(
        self, point: Point, host: str, port: int | None, *, met: bool | None = None
    ) -> Met | None:
        """Count an attempt; return what it meets, or None where it is left alone.

        ``met``: as in ``Injector.attempt``.
        """
        now = self._recorder.clock.now()
        decision = self._injector.attempt(point, host, port, now, met=met)
        if not (decision.injections or decision.superseded):
            return None
        url = redact_url(self._injector.attempt_url(point, host, port))
        for injection in decision.injections:
            self._recorder.write(planned(injection, url))
        for injection in decision.superseded:
            self._recorder.write(planned(injection, url))
            self._recorder.write(missed(injection, "superseded"))
        if not decision.injections:
            return None
        # Of two that do not collide at an attempt, only the first can strike.
        first, *rest = (Met(injection, now) for injection in decision.injections)
        self._open.update((first, *rest))
        for other in rest:
            self.missed(other, "superseded")
        return first

    def delivered(self, met: Met, *, waited: bool = False) -> None:
        """Record that the client has met the failure; ``waited``: by waiting for an answer."""
        if met not in self._open:
            return
        self._open.remove(met)
        injection = met.injection
        self._injector.settle(injection, delivered=True)
        self._recorder.write(
            FaultDelivered(
                injection=injection.id,
                exchange=injection.exchange,
                rule=injection.rule,
                waited_s=round(self._waited(met), 6) if waited else 0.0,
            )
        )

    def missed(self, met: Met, reason: str, *, waited: bool = False) -> None:
        """Record that the client has not met it."""
        if met not in self._open:
            return
        self._open.remove(met)
        self._injector.settle(met.injection, delivered=False)
        seconds = self._waited(met) if waited else 0.0
        self._recorder.write(missed(met.injection, reason, seconds))

    def finish(self) -> None:
        """Settle what is still under way: the trial is over."""
        for met in sorted(self._open, key=lambda it: it.since):
            self.missed(met, "trial_over", waited=True)

    def _waited(self, met: Met) -> float:
        return self._recorder.clock.now() - met.since
