"""What served models come to on live tasks."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.training.campaigns import CLEAN
from warex.analysis.run.load import load_run
from warex.analysis.stats.clustered import sign_flip_p


@dataclass(frozen=True, slots=True)
class LiveTrial:
    """A live task under one condition."""

    task: str
    condition: str
    solved: bool


@dataclass(frozen=True, slots=True)
class LiveRise:
    """Live success under faults, before and after training."""

    before: float
    after: float
    tasks: int
    risen: int
    """Tasks that are solved more often after than before."""
    fallen: int
    """Tasks that are solved less often."""
    p: float
    """Of the sign-flip test over tasks, two-sided; the trials of a task stay together."""


def live_trials(run: Path) -> list[LiveTrial]:
    """Return the scored trials of a run."""
    return [
        LiveTrial(trial.key.task, trial.key.condition, trial.solved)
        for trial in load_run(run).trials
        if trial.solved is not None
    ]


def live_rise(before: Sequence[LiveTrial], after: Sequence[Sequence[LiveTrial]]) -> LiveRise:
    """Compare live success under faults; ``after`` has the trials of each seed."""
    first = {(it.task, it.condition): it.solved for it in before if it.condition != CLEAN}
    sums: dict[str, int] = defaultdict(int)
    solved = pairs = solved_before = 0
    for trials in after:
        for it in trials:
            if (it.task, it.condition) in first:
                was = first[it.task, it.condition]
                sums[it.task] += it.solved - was
                solved, solved_before, pairs = solved + it.solved, solved_before + was, pairs + 1
    if not pairs:
        return LiveRise(0, 0, 0, 0, 0, 1)
    changes = list(sums.values())
    return LiveRise(
        before=solved_before / pairs,
        after=solved / pairs,
        tasks=len(changes),
        risen=sum(change > 0 for change in changes),
        fallen=sum(change < 0 for change in changes),
        p=sign_flip_p(changes),
    )


def live_table(live: Mapping[str, Sequence[LiveTrial]]) -> str:
    """Return the solved tasks of each model under each condition as a Markdown table."""
    conditions = list(dict.fromkeys(it.condition for trials in live.values() for it in trials))
    lines = [f"| model | {' | '.join(conditions)} |", f"| --- |{' --- |' * len(conditions)}"]
    for name, trials in live.items():
        cells = []
        for condition in conditions:
            some = [it.solved for it in trials if it.condition == condition]
            cells.append(f"{sum(some)}/{len(some)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
