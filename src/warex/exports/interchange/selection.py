"""The trials that are exported, and the files that they go to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warex.analysis.run.attempts import last_attempts
from warex.analysis.run.folder_hints import folder_hint
from warex.analysis.trial.record import read_attempt, trial_key_of
from warex.errors import InputError, TraceError
from warex.files.reading import path_exists
from warex.traces.outcome import Void
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import EVENTS, TrialKey, trial_dir


@dataclass(frozen=True, slots=True)
class SelectedTrial:
    """A trial with a trace."""

    key: TrialKey
    path: Path
    """The attempt that stands for it."""
    folder: str
    """The folder of its run's files below the export's; empty for a single run."""
    void: str | None = None
    """Why the trial is void; None if it is not."""

    def file(self, out: Path, suffix: str) -> Path:
        """Return its file below ``out``, at the place of its folder in the run."""
        place = trial_dir(out / self.folder, self.key)
        return place.with_name(f"{place.name}{suffix}")


@dataclass(frozen=True, slots=True)
class Selection:
    """Trials of one or several runs."""

    trials: tuple[SelectedTrial, ...]
    without_trace: int
    """Trials that are left out, since nothing was recorded."""
    damaged: tuple[TraceError, ...] = ()
    """Why trials are left out whose outcome or trace cannot be read: an error for each."""

    @property
    def voids(self) -> int:
        """The number of void trials among ``trials``."""
        return sum(trial.void is not None for trial in self.trials)


def select_trials(
    folders: Sequence[Path], agents: Sequence[str] = (), conditions: Sequence[str] = ()
) -> Selection:
    """Return the trials in folders of runs, conditions, trials or attempts; () for all agents.

    Each trace is read once to find damage. Raises TraceError for a folder without a trial and if
    only damaged trials are left, InputError if no trial is left.
    """
    trials, without_trace, damaged = list[SelectedTrial](), 0, list[TraceError]()
    for folder, name in zip(folders, folder_names(folders), strict=True):
        attempts = list(last_attempts(folder))
        if not attempts:
            raise TraceError(f"{folder} holds no trial. {folder_hint(folder)}")
        for attempt in attempts:
            key = trial_key_of(attempt)
            if (agents and key.agent not in agents) or (
                conditions and key.condition not in conditions
            ):
                continue
            if not path_exists(attempt / EVENTS):
                without_trace += 1
                continue
            try:
                read_attempt(attempt)
                outcome = read_outcome(attempt)
            except TraceError as error:
                damaged.append(error)
                continue
            void = outcome.reason if isinstance(outcome, Void) else None
            trials.append(SelectedTrial(key, attempt, name, void))
    if damaged and not trials:
        raise TraceError(
            f"{', '.join(map(str, folders))}: every trial is damaged, {len(damaged)} in all; the"
            f" first: {damaged[0]}"
        )
    if not trials:
        raise InputError(
            f"{', '.join(map(str, folders))}: there is no trial with a trace of these agents and"
            " conditions"
        )
    return Selection(tuple(trials), without_trace, tuple(damaged))


def folder_names(folders: Sequence[Path]) -> Iterator[str]:
    """Yield a name for each folder, different from the others; empty for a single one."""
    if len(folders) == 1:
        yield ""
        return
    used = set[str]()
    for folder in folders:
        base = name = folder.resolve().name
        number = 1
        while name in used:
            number += 1
            name = f"{base}-{number}"
        used.add(name)
        yield name
