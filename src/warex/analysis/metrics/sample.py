"""The input of metrics, with sums, means and shares over it."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from warex.analysis.recovery import Recovery
from warex.analysis.stats.clustered import PairKey, TaskId
from warex.analysis.stats.estimates import Mean, Rate, clustered_rate, mean_over
from warex.analysis.stats.paired import Delta, ScoredPairs
from warex.analysis.trial.injections import missed, occurrences
from warex.analysis.trial.record import TrialRecord

type Needs = Literal["trace", "calls", "faults", "judged", "clean"]
"""The data that a metric needs: a trace of each trial, its calls to the model, trials with faults,
trials that can be judged, pairs with ``clean``."""


@dataclass(frozen=True)
class Sample:
    """One agent's trials under one condition."""

    trials: Sequence[TrialRecord]
    clean: Sequence[TrialRecord]
    """The agent's trials under ``clean``."""
    delta: Delta | None
    """Success minus ``clean``'s; p is adjusted for all agents and conditions of the run."""
    delta_exposed: Delta | None
    """The same over exposed trials."""
    void_attempts: int

    def knows(self, needs: Needs | None) -> bool:
        """Return whether the data that a metric needs exists."""
        match needs:
            case "trace":
                return self.is_watched
            case "calls":
                return self.is_watched and all(trial.llm is not None for trial in self.trials)
            case "faults" | "judged":
                return bool(self.faulted)
            case "clean" | None:
                return True

    @property
    def is_watched(self) -> bool:
        """Whether each trial has a trace."""
        return bool(self.trials) and all(trial.has_trace for trial in self.trials)

    @cached_property
    def solved(self) -> ScoredPairs:
        """Whether each trial was solved; trials without a score are missing."""
        return solved(self.trials)

    @cached_property
    def solved_clean(self) -> ScoredPairs:
        """The same for the trials under ``clean``."""
        return solved(self.clean)

    @cached_property
    def faulted(self) -> Sequence[TrialRecord]:
        """Trials with a scenario."""
        return [trial for trial in self.trials if trial.has_faults]

    @cached_property
    def exposed(self) -> Sequence[TrialRecord]:
        """Trials with a scenario and a delivered fault."""
        return [trial for trial in self.faulted if trial.exposed]

    @property
    def exposure(self) -> Rate | None:
        """The share of trials with a delivered fault; None if nothing is injected."""
        return share(self.faulted, lambda trial: trial.exposed) if self.faulted else None

    @cached_property
    def judged(self) -> Sequence[TrialRecord]:
        """Exposed trials that count in the recovery rate."""
        return [trial for trial in self.exposed if trial.recovered is not None]

    @cached_property
    def recoveries(self) -> Sequence[tuple[TaskId, Recovery]]:
        """The injections that count in the recovery rate, each with its task."""
        return [(trial.task, r) for trial in self.exposed for r in trial.recoveries if r.is_rated]

    @cached_property
    def recovered(self) -> Sequence[Recovery]:
        """The injections with a recovery."""
        return [r for trial in self.trials for r in trial.recoveries if r.verdict == "recovered"]

    @cached_property
    def missed(self) -> tuple[tuple[str, int], ...]:
        """Planned injections that were not delivered, by reason; each occurrence counts once."""
        return missed(i for trial in self.trials for i in occurrences(trial.injections))

    @property
    def skipped(self) -> tuple[tuple[str, int], ...]:
        """Exchanges that rules skipped, by reason: not planned, so not missed."""
        counts = sum((Counter(dict(trial.skipped)) for trial in self.trials), Counter[str]())
        return tuple(sorted(counts.items()))

    def mean(self, read: Callable[[TrialRecord], float | None]) -> Mean | None:
        """Return the mean over trials; None if the value of one is unknown."""
        values = [read(trial) for trial in self.trials]
        if any(one is None for one in values):
            return None
        return mean_over([(t.task, one or 0.0) for t, one in zip(self.trials, values, strict=True)])


def mean_difference(
    pairs: Iterable[tuple[TrialRecord, TrialRecord]],
    read: Callable[[TrialRecord], float | None],
) -> Mean | None:
    """Return the mean of the second minus the first, over pairs of which both are known."""
    known = ((one.task, read(one), read(other)) for one, other in pairs)
    return mean_over(
        [
            (task, after - before)
            for task, before, after in known
            if before is not None and after is not None
        ]
    )


def price_models(trials: Iterable[TrialRecord]) -> tuple[str, ...]:
    """Return the models whose prices are used for a model that has none, or is scripted."""
    return tuple(sorted({name for t in trials if t.llm for name in t.llm.as_if.values()}))


def share(trials: Iterable[TrialRecord], hit: Callable[[TrialRecord], float | str | None]) -> Rate:
    """Return the share of hits among the trials for which it is known."""
    known = ((trial.task, hit(trial)) for trial in trials)
    return clustered_rate((task, bool(one)) for task, one in known if one is not None)


def total_of(figures: Sequence[float | None]) -> float | None:
    """Return the sum; None if a figure is unknown, or if there are none."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) if known and len(known) == len(figures) else None


def solved(trials: Iterable[TrialRecord]) -> dict[PairKey, bool]:
    """Return whether each trial was solved; trials without a score are missing."""
    return {t.pair: t.solved for t in trials if t.solved is not None}
