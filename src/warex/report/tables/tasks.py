"""The heat map of tasks by condition, with links to trials."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

from warex.analysis.run.load import Run
from warex.analysis.trial.record import TrialRecord
from warex.report.tables.columns import Cell, Column, text_column
from warex.report.tables.sheet import Sheet, sheet_of
from warex.report.tables.sites import heat_class, site_by_task
from warex.report.text import formatting
from warex.report.text.outcomes import describe_recovery
from warex.text.english import count_noun
from warex.traces.outcome import Counted, Unscored, Void
from warex.traces.paths import attempt_id

MOST_LINKS = 2000
"""With more cells than this, only those with a problem link to their trials."""

FILTERS = (
    ("all", "all tasks"),
    ("failed", "only failures"),
    ("unrecovered", "not recovered"),
    ("broken", "void or not finished"),
)
"""The filters of a reader, by tag; the first one shows all cells."""

VIEW = "view/index.html"
"""Where `warex view RUN --static RUN/view` writes the run's pages."""
_VALUES = ("solved", "scored", "recovered", "of")
_RECOVERED = "; below it (rec.), recovered of those judged"


class _Line(NamedTuple):
    """A task of an agent."""

    agent: str
    site: str
    benchmark: str
    task: str
    trials: Mapping[str, Sequence[TrialRecord]]
    """By condition."""

    @property
    def full_name(self) -> str:
        """The task's name with its benchmark."""
        return f"{self.benchmark}: {self.task}"


def task_sheet(run: Run) -> Sheet:
    """Return a line for each agent and task, with a cell for each condition over all repeats.

    A cell links to the folder of its trial, or of its repeats.
    """
    by_task: dict[tuple[str, str, str, str], dict[str, list[TrialRecord]]] = defaultdict(
        lambda: defaultdict(list)
    )
    site_of = site_by_task(run.trials)
    for trial in run.trials:
        key = trial.key
        site = site_of[key.benchmark, key.task]
        by_task[key.agent, site, key.benchmark, key.task][key.condition].append(trial)
    lines = [_Line(*place, trials) for place, trials in by_task.items()]
    number = sum(len(line.trials) for line in lines)
    every = number <= MOST_LINKS
    several = len({line.benchmark for line in lines}) > 1
    note = "Each cell leads to the folder of its trials."
    if not every:
        note = (
            f"Of these {count_noun(number, 'cell')}, only those lead to their trials in"
            " which one was not solved, not scored, void or not finished."
        )
    # The cell of a single trial has a word instead.
    summed = any(
        len(trials) > 1 and any(t.exposed and t.recovered is not None for t in trials)
        for line in lines
        for trials in line.trials.values()
    )
    return sheet_of(
        "tasks",
        "Task by task",
        f"Solved of scored trials{_RECOVERED if summed else ''}. {note}",
        (
            text_column("site", "Host."),
            text_column("task", "Name in the benchmark.", "full_name" if several else "task"),
            *(_condition_column(run, condition, every) for condition in run.conditions),
        ),
        sorted(lines, key=lambda line: (run.agents.index(line.agent), line)),
    )


def _condition_column(run: Run, condition: str, every: bool) -> Column:
    return Column(
        condition,
        "Solved of scored trials.",
        tuple(f"{condition}_{what}" for what in _VALUES),
        lambda line: _cell(run, line.trials.get(condition, ()), every),
    )


def _cell(run: Run, trials: Sequence[TrialRecord], every: bool) -> Cell:
    if not trials:
        return Cell("not run", (None,) * 4, css_class="none")
    scored = [trial.solved for trial in trials if trial.solved is not None]
    judged = [t.recovered for t in trials if t.exposed and t.recovered is not None]
    values = sum(scored), len(scored), sum(judged), len(judged)
    wrong = len(scored) < len(trials) or not all(scored)
    href = _href(run, trials) if every or wrong else ""
    tags = tuple(_tags(trials, scored, judged))
    if len(trials) == 1:
        word = _word(trials[0])
        return Cell(word, values, ", ".join(_details(trials[0])), href, word, tags)
    text = f"{sum(scored)}/{len(scored)}" if scored else formatting.UNKNOWN
    look = heat_class(sum(scored) / len(scored)) if scored else "none"
    return Cell(text, values, ", ".join(_summary(trials, judged)), href, look, tags)


def _tags(
    trials: Sequence[TrialRecord], scored: Sequence[bool], judged: Sequence[bool]
) -> Iterable[str]:
    if not all(scored):
        yield "failed"
    if not all(judged):
        yield "unrecovered"
    if any(trial.void or trial.outcome is None for trial in trials):
        yield "broken"


def _summary(trials: Sequence[TrialRecord], judged: Sequence[bool]) -> Iterable[str]:
    if judged:
        yield f"{sum(judged)}/{len(judged)} rec."
    for what in ("void", "unfinished", "unscored"):
        if number := sum(_word(trial) == what for trial in trials):
            yield f"{number} {what}"


def _word(trial: TrialRecord) -> str:
    match trial.outcome:
        case Counted():
            return "success" if trial.solved else "failure"
        case Unscored():
            return "unscored"
        case Void():
            return "void"
        case None:
            return "unfinished"


def _details(trial: TrialRecord) -> Iterable[str]:
    match trial.outcome:
        case Counted(ending=ending, score=score):
            if ending != "answered":
                yield ending.replace("_", " ")
            if 0 < score < 1:
                yield f"score {score:g}"
        case Unscored(ending=str(ending)):
            yield ending.replace("_", " ")
        case Void(reason=reason):
            yield reason
        case _:
            pass
    if trial.has_faults and not trial.void:
        yield describe_recovery(trial)


def _href(run: Run, trials: Sequence[TrialRecord]) -> str:
    """Return a link to the viewer's page if it was written beside the report, else to a folder."""
    path, key = trials[0].path.resolve(), trials[0].key
    if (run.path / VIEW).exists():
        if len(trials) == 1:
            return f"{VIEW}#/trial/0/{attempt_id(run.path.resolve(), path)}"
        asked = urlencode({"agent": key.agent, "condition": key.condition, "q": key.task})
        return f"{VIEW}#/run/0?{asked}"
    # TASK/REPEAT/ATTEMPT: several repeats share the folder of the task.
    return folder_link(run, trials[0].path if len(trials) == 1 else trials[0].path.parents[1])


def folder_link(run: Run, path: Path) -> str:
    """Return a link to a folder, relative to the run's."""
    # Folder names contain percent signs, which a link must escape.
    return quote(relative(run, path)) + "/"


def relative(run: Run, path: Path) -> str:
    """Return a folder's path relative to the run's."""
    return path.resolve().relative_to(run.path.resolve()).as_posix()
