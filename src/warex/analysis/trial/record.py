"""The record of one trial: its figures, each with its lines of the trace."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from warex.analysis.recovery import Claim, Recovery, recoveries, trial_recovered
from warex.analysis.recovery.connection_tries import split_url
from warex.analysis.recovery.script_acts import without_foreign_acts
from warex.analysis.stats.clustered import PairKey, TaskId
from warex.analysis.trial.attack_outcomes import AttackOutcome, attack_outcomes
from warex.analysis.trial.attribution import UNATTRIBUTED, entries_by_task
from warex.analysis.trial.behaviour import (
    Behaviour,
    behaviour,
    claim_against_check,
    false_success,
)
from warex.analysis.trial.injections import InjectionRecord, injections, skipped
from warex.analysis.trial.parting import Parting, parting
from warex.analysis.trial.popup_handling import PopupHandling, popup_handling
from warex.analysis.trial.strategy import NO_STRATEGY, Strategy, strategy
from warex.analysis.trial.twins import clean_attempt, twins_of
from warex.analysis.trial.usage import LlmUsage, llm_unread, llm_usage
from warex.errors import TraceError
from warex.files.reading import path_exists
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.prices.table import PriceTable, built_in_prices
from warex.traces.events import (
    Armed,
    Canary,
    Entry,
    FaultDelivered,
    FaultPlanned,
    HarnessBroke,
    RequestSeen,
    TrialBegan,
)
from warex.traces.judged_claim import read_judged_claim
from warex.traces.outcome import Counted, Outcome, Unscored, Void
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import EVENTS, NO_PROXY, TrialKey, attempt_dir, unescape
from warex.traces.reader import Trace, read_trace


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """One attempt at a trial, with everything that tables and reports need."""

    key: TrialKey
    attempt: int
    path: Path
    outcome: Outcome | None
    """None if the attempt was not finished; it then counts for nothing."""
    seed: int | None
    has_faults: bool
    """Whether a scenario was loaded."""
    llm: LlmUsage | None
    """None if the agent's calls were not recorded: unknown, not zero."""
    injections: tuple[InjectionRecord, ...]
    skipped: tuple[tuple[str, int], ...]
    """Exchanges that rules skipped, by reason."""
    recoveries: tuple[Recovery, ...]
    behaviour: Behaviour
    false_success: bool | None
    """Whether the agent claims a success that the check denies; None if unknown."""
    canary: bool | None
    """Whether the canary page came through the proxy; None if it was not tried."""
    harness_broke: tuple[str, ...]
    truncated: str | None
    """A sentence if the end of the trace is missing."""
    site: str | None
    """Host of the first page that was requested; None if none was, or nothing was recorded."""
    llm_unread: tuple[tuple[str, str], ...] = ()
    """Requests that look like calls to a model and could not be read: URL without query, and why.

    If there are any, or if no call of the agent was seen in the whole run, ``llm`` is None.
    """
    popups: PopupHandling | None = None
    """How popups were handled; None if none was shown."""
    attacks: tuple[AttackOutcome, ...] = ()
    """The outcome of each delivered attack on the agent."""
    never_armed: str | None = None
    """The event that the scenario waited for and that never came; None if it was armed."""
    claim: Claim | None = None
    """What the last answer claims, if the agent answered and did not solve the task."""
    strategy: Strategy = NO_STRATEGY
    """What the agent did after faults against the rules of the web."""
    has_trace: bool = True
    """Whether there is a trace of the proxy's traffic."""
    parting: Parting | None = None
    """Where it parts from its clean twin; None if one of both is not counted or has no trace."""

    @property
    def task(self) -> TaskId:
        """Its benchmark and task: the cluster of the statistics."""
        return self.key.benchmark, self.key.task

    @property
    def pair(self) -> PairKey:
        """Its benchmark, task and repeat, by which trials of conditions and agents are paired."""
        return self.key.benchmark, self.key.task, self.key.repeat

    def with_calls_unknown(self) -> Self:
        """Return the record with the agent's calls, and what depends on them, unknown."""
        return replace(
            self,
            llm=None,
            recoveries=tuple(
                replace(one, detected=None, detected_seq=None)
                for one in self.recoveries
                if one.verdict == "not_needed"
            ),
            behaviour=Behaviour(duplicated_writes=self.behaviour.duplicated_writes),
            strategy=NO_STRATEGY,
            claim=None,
            false_success=False if self.solved else None,
        )

    def scripted(self) -> Self:
        """Return the record of an agent whose model is scripted by WAREX: its cost is not real."""
        return self if self.llm is None else replace(self, llm=self.llm.scripted())

    @property
    def exposed(self) -> bool:
        """Whether at least one injection was delivered."""
        return any(injection.fate == "delivered" for injection in self.injections)

    @property
    def recovered(self) -> bool | None:
        """Whether the agent recovered from each injection; None leaves it out of the rate."""
        return trial_recovered(self.recoveries)

    @property
    def needed_no_recovery(self) -> bool:
        """Whether the task was solved and no injection that counts needed a recovery."""
        return (
            bool(self.solved and self.recoveries)
            and self.recovered is None
            and all(one.verdict != "undecided" for one in self.recoveries)
        )

    @property
    def detected(self) -> bool | None:
        """Whether the agent noticed any of its faults; None if unknown."""
        known = [r.detected for r in self.recoveries if r.detected is not None]
        return any(known) if known else None

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
        """Client latency in seconds, from the start of the agent's command to its exit.

        A replayed answer of the model counts with the time that it originally took.
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
    """Read an attempt's folder, and the clean trial's of the same task if it is in a run.

    ``vocabulary`` is the benchmark's (see ``warex.analysis.recovery``), used if the trace has none
    of its own; ``prices`` defaults to the built-in table; ``trace`` is read from the folder unless
    given. Trace and outcome may be missing. Raises TraceError for a damaged one.
    """
    if trace is None:
        trace = read_attempt(path, lean=True)
    entries = trace.entries
    outcome = read_outcome(path)
    solved = isinstance(outcome, Counted) and outcome.score >= 1
    hit = bool(trace.events(FaultDelivered))
    began = next(iter(trace.events(TrialBegan)), None)
    vocabulary = vocabulary_of(path, began, vocabulary)
    # Judged for each task alone: an action in another task is not a recovery.
    parts = entries_by_task(entries) or {UNATTRIBUTED: entries}
    key, attempt = _identity(path, began)
    run = run_of(path)
    twins = twins_of(run, key) if hit and run is not None else {}
    verdicts = tuple(
        verdict
        for task, part in parts.items()
        for verdict in recoveries(part, vocabulary, solved=solved, twin=twins.get(task))
        if hit
    )
    watched = bool(entries) and key.condition != NO_PROXY
    judged = read_judged_claim(path)
    claim = claim_against_check(entries, vocabulary, outcome, judged.claim if judged else None)
    own = without_foreign_acts(entries)
    canaries = [canary.passed for canary in trace.events(Canary)]
    unread, requests = llm_unread(entries), trace.events(RequestSeen)
    record = TrialRecord(
        key=key,
        attempt=attempt,
        path=path,
        outcome=outcome,
        seed=began.seed if began else None,
        has_faults=began is not None and began.scenario is not None,
        llm=llm_usage(entries, prices or built_in_prices()) if watched else None,
        injections=injections(entries),
        skipped=skipped(entries),
        recoveries=verdicts,
        behaviour=behaviour(entries, verdicts, vocabulary),
        claim=claim,
        false_success=false_success(claim, outcome),
        canary=all(canaries) if canaries else None,
        harness_broke=tuple(broke.reason for broke in trace.events(HarnessBroke)),
        truncated=trace.truncation,
        site=next((split_url(r.url).hostname for r in requests if r.top_level), None),
        llm_unread=unread,
        popups=popup_handling(own),
        attacks=attack_outcomes(own),
        strategy=strategy(entries),
        never_armed=_never_armed(trace, began),
        has_trace=watched,
        parting=_parting(run, key, path, outcome, entries) if watched else None,
    )
    return record.with_calls_unknown() if unread else record


def read_attempt(path: Path, *, lean: bool = False) -> Trace:
    """Return the trace in an attempt's folder; an empty one if there is none."""
    return read_trace(path / EVENTS, lean=lean) if path_exists(path / EVENTS) else Trace(())


def _parting(
    run: Path | None,
    key: TrialKey,
    path: Path,
    outcome: Outcome | None,
    entries: Sequence[Entry],
) -> Parting | None:
    if run is None or not isinstance(outcome, Counted):
        return None
    try:
        twin = clean_attempt(run, key)
        return parting(entries, path, twin) if twin else None
    except TraceError:
        # A reader of the clean trial itself gets the message.
        return None


def _never_armed(trace: Trace, began: TrialBegan | None) -> str | None:
    """Return the event that the rules waited for if it never came, or else None."""
    if began is None or began.scenario is None or began.arm == "start" or trace.truncation:
        return None
    # A fault may be applied to connection tries before the page of the site arms the rest.
    applied = any(trace.events(Armed)) or any(trace.events(FaultPlanned))
    return None if applied else began.arm


def trial_key_of(path: Path, trace: Trace | None = None) -> TrialKey:
    """Return the trial that an attempt's folder belongs to, by its path or else by its trace.

    The trace is read unless given. Raises TraceError for a damaged one.
    """
    if parsed := _key_in(path):
        return parsed[0]
    if trace is None:
        trace = read_attempt(path, lean=True)
    return _identity(path, next(iter(trace.events(TrialBegan)), None))[0]


def run_of(path: Path) -> Path | None:
    """Return the run folder that an attempt's folder belongs to; None if it is not in a run."""
    return path.resolve().parents[6] if _key_in(path) else None


def vocabulary_of(
    path: Path, began: TrialBegan | None, benchmarks: Vocabulary | None
) -> Vocabulary | None:
    """Return the agent's vocabulary; None if none is known, or it has no action.

    ``path`` is the attempt's folder; ``benchmarks`` is used if the trace has no vocabulary. Raises
    TraceError for a damaged one.
    """
    try:
        own = began and began.vocabulary and Vocabulary.model_validate(began.vocabulary)
    except ValidationError as error:
        what = error.errors(include_url=False)[0]["msg"]
        raise TraceError(f"{path / EVENTS}: the vocabulary of trial_began: {what}.") from None
    known = own or benchmarks
    return known if known and known.names else None


def _identity(path: Path, began: TrialBegan | None) -> tuple[TrialKey, int]:
    if parsed := _key_in(path):
        return parsed
    if began is None:
        return TrialKey("", "", "", path.name), 1
    key = TrialKey(began.benchmark, began.agent, began.condition, began.task, began.repeat)
    return key, began.attempt


def _key_in(path: Path) -> tuple[TrialKey, int] | None:
    """Return trial and number of an attempt by its path; None if it is not in a run."""
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
