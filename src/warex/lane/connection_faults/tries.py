"""Connection tries as the trial records them: counted, planned, delivered or missed.

The code that applies a connection fault plans it here first, and settles it here.
"""

from warex.faults import ConnectionPhase
from warex.lane.record.fault_events import record_plan, settle
from warex.lane.record.recorder import Recorder
from warex.scenarios import PlannedInjection
from warex.scenarios.injection.connection_tries import ConnectionTryRules
from warex.scenarios.origins import ConnectionTarget
from warex.traces import MissReason


class ConnectionTries:
    """One trial's tries to look a name up, to connect and to begin TLS."""

    def __init__(self, rules: ConnectionTryRules, recorder: Recorder) -> None:
        self._rules = rules
        self._recorder = recorder
        self._unsettled: dict[str, PlannedInjection] = {}

    def plan(
        self, point: ConnectionPhase, host: str, port: int | None = None, *, met: bool | None = None
    ) -> tuple[PlannedInjection, ...]:
        """Count a connection try, and record and return the injections planned for it.

        ``met``, for connections: whether the blocklist has stopped it (True) or it was accepted
        (False). The caller must settle each returned injection.
        """
        target = ConnectionTarget.of(point, host, port)
        decision = self._rules.judge(target, self._recorder.clock.now(), met=met)
        if decision.injections or decision.superseded:
            record_plan(self._recorder, decision, self._rules.url_of(target), point)
            self._unsettled |= {injection.id: injection for injection in decision.injections}
        return decision.injections

    def may_concern(self, point: ConnectionPhase, host: str, port: int) -> bool:
        """Whether a rule is about tries at that place, without regard to its trigger."""
        return self._rules.concerns(ConnectionTarget.of(point, host, port))

    def settle(
        self,
        *injections: PlannedInjection,
        delivered: bool,
        reason: MissReason = "client_gone",
        waited_s: float = 0.0,
    ) -> None:
        """Record the outcome of injections, each once."""
        missed = None if delivered else reason
        for injection in injections:
            if self._unsettled.pop(injection.id, None) is not None:
                settle(self._recorder, injection, missed, waited_s)

    def finish(self) -> None:
        """Settle the open injections at the end of the trial."""
        self.settle(*self._unsettled.values(), delivered=False, reason="trial_over")
