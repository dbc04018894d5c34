"""One trial in numbers, each with the lines of the trace that it rests on."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from warex.analysis.behaviour import Behaviour, behaviour
from warex.analysis.injections import Injection, injections, left_alone
from warex.analysis.recovery import Recovery, recoveries, trial_recovered
from warex.analysis.usage import LlmUse, llm_use
from warex.files import stands
from warex.llm.actions import Vocabulary
from warex.llm.prices import PriceTable, built_in_prices
from warex.traces.events import Canary, FaultDelivered, HarnessBroke, RequestSeen, TrialBegan
from warex.traces.outcome import Counted, Outcome, Unscored, Void
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import EVENTS, TrialKey, attempt_dir, unescape
from warex.traces.reader import Trace, read_trace

NO_PROXY = "no-proxy"
CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One attempt at a trial, with all that tables and reports say of it."""

    key: TrialKey
    attempt: int
    path: Path
    outcome: Outcome | None
    """None: the attempt was never finished, so it counts as nothing at all."""
    seed: int | None
    has_faults: bool
    """Whether a scenario was loaded."""
    llm: LlmUse | None
    """None where nobody watched the agent's calls: unknown, not zero."""
    injections: tuple[Injection, ...]
    left_alone: tuple[tuple[str, int], ...]
    """Exchanges that rules had to leave alone, by reason."""
    recoveries: tuple[Recovery, ...]
    behaviour: Behaviour
    canary: bool | None
    """Whether a page proved the agent's way, before it began or as its first; None: not tried."""
    harness_broke: tuple[str, ...]
    cut: str | None
    """A sentence if the end of the trace is missing."""
    site: str | None
    """Host of the first page that was asked for; None where nobody watched, or none was."""

    @property
    def exposed(self) -> bool:
        """Whether at least one injection was delivered."""
        return any(injection.fate == "delivered" for injection in self.injections)

    @property
    def recovered(self) -> bool | None:
        """Whether each injection was recovered from; None keeps the trial out of the rate."""
        return trial_recovered(self.recoveries)

    @property
    def solved(self) -> bool | None:
        """Whether the task was done in full; None if the trial has no score."""
        return self.outcome.score >= 1 if isinstance(self.outcome, Counted) else None

    @property
    def void(self) -> bool:
        """Whether the harness broke, so that the trial says nothing."""
        return isinstance(self.outcome, Void)

    @property
    def latency_s(self) -> float | None:
        """Client latency: from the agent's command start to its exit.

        As if every answer of the model had taken the time it took when it was given first: a trial
        that lives on replayed answers is no quicker agent.
        """
        match self.outcome:
            case Counted(latency_s=seconds) | Unscored(latency_s=float(seconds)):
                return seconds + (self.llm.saved_s if self.llm else 0.0)
            case _:
                return None


def load_trial(
    path: Path,
    vocabulary: Vocabulary | None = None,
    prices: PriceTable | None = None,
    trace: Trace | None = None,
) -> TrialRecord:
    """Read one attempt's folder.

    ``vocabulary`` is the benchmark's (see ``warex.analysis.recovery``); ``prices`` is the built-in
    table unless given; ``trace`` saves reading it twice. A missing trace or
    outcome is no error: both say something. Raises TraceError for a damaged one.
    """
    if trace is None:
        trace = read_trace(path / EVENTS, lean=True) if stands(path / EVENTS) else Trace(())
    entries = trace.entries
    hit = bool(trace.events(FaultDelivered))
    verdicts = recoveries(entries, vocabulary) if hit else ()
    began = next(iter(trace.events(TrialBegan)), None)
    key, attempt = _identity(path, began)
    watched = bool(entries) and key.condition != NO_PROXY
    canaries = [canary.passed for canary in trace.events(Canary)]
    return TrialRecord(
        key=key,
        attempt=attempt,
        path=path,
        outcome=read_outcome(path),
        seed=began.seed if began else None,
        has_faults=began is not None and began.scenario is not None,
        llm=llm_use(entries, prices or built_in_prices()) if watched else None,
        injections=injections(entries),
        left_alone=left_alone(entries),
        recoveries=verdicts,
        behaviour=behaviour(entries, verdicts, vocabulary),
        canary=all(canaries) if canaries else None,
        harness_broke=tuple(broke.reason for broke in trace.events(HarnessBroke)),
        cut=trace.cut,
        site=_site(trace.events(RequestSeen)),
    )


def run_of(path: Path) -> Path | None:
    """Return the run folder that an attempt's folder belongs to; None if it stands alone."""
    key = _key_in(path)
    return path.resolve().parents[6] if key else None


def _site(requests: Iterable[RequestSeen]) -> str | None:
    for request in requests:
        if request.top_level:
            try:
                return urlsplit(request.url).hostname
            except ValueError:
                return None
    return None


def _identity(path: Path, began: TrialBegan | None) -> tuple[TrialKey, int]:
    if found := _key_in(path):
        return found
    if began is None:
        return TrialKey("", "", "", path.name), 1
    key = TrialKey(began.benchmark, began.agent, began.condition, began.task, began.repeat)
    return key, began.attempt


def _key_in(path: Path) -> tuple[TrialKey, int] | None:
    """Return what an attempt's folder is called after; None if it is no part of a run."""
    path = path.resolve()
    if len(path.parts) < 8:
        return None
    *names, repeat, attempt = path.parts[-6:]
    try:
        benchmark, agent, condition, task = map(unescape, names)
        key = TrialKey(benchmark, agent, condition, task, int(repeat))
        number = int(attempt.removeprefix("attempt-"))
    except ValueError:
        return None
    return (key, number) if attempt_dir(path.parents[6], key, number) == path else None
