"""Runs a campaign with a live display, a line for each attempt, and the results."""

import shlex
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan
from warex.campaigns.run.circuit_breaker import common_reason
from warex.campaigns.run.folder import read_history
from warex.campaigns.run.schedule import AttemptDone
from warex.campaigns.run_campaign import run_campaign
from warex.cli.options.ci import publish_results
from warex.cli.options.parameters import Printed
from warex.cli.options.thresholds import OnUnclear, enforce_thresholds, judge_thresholds
from warex.cli.output import console, warn
from warex.cli.progress.tracker import ProgressTracker
from warex.cli.results.report import print_summaries, statistics_command
from warex.errors import WarexError
from warex.proxy.certificates.ca import ensure_ca
from warex.report.ci.outputs import CiOutputs
from warex.sandbox.cleanup.scratch import process_scratch
from warex.text.english import count_noun
from warex.traces import MANIFEST, Counted, TrialKey, Unscored, Void

_IN_WORDS = Printed()
_SOONEST, _LATEST = 10.0, 60.0
"""Seconds between two progress lines without a terminal."""


def run_and_report(
    planned: CampaignPlan,
    out: Path,
    options: RunOptions,
    fail_under: str | None = None,
    on_unclear: OnUnclear | None = None,
    outputs: CiOutputs | None = None,
    printed: Printed = _IN_WORDS,
) -> None:
    """Run a campaign with a progress display, print its results, write its report.

    The results are on standard output; the display, a line for each attempt and messages are on
    standard error. Of these, only void attempts are printed if ``printed`` is quiet.

    Raises WarexError if no trial counts or ``fail_under`` is not reached, CannotTell if that is
    open.
    """
    # Before the run folder is made, which would block the next try.
    ensure_ca()
    screen = console(stderr=True)
    pace = ProgressTracker()
    progress = _LiveDisplay(pace, screen, quiet=printed.quiet)
    lock = threading.Lock()
    bar = progress.add_task(planned.config.name, total=None)
    widths = _widths(spec.key for spec in planned.trials)
    reasons = Counter[str]()
    """Of void attempts."""

    def began(trials: int) -> None:
        pace.total = trials
        progress.update(bar, total=trials)

    def report(done: AttemptDone) -> None:
        with lock:
            pace.attempt_ended(done.key, done.outcome)
            time = 1
            if isinstance(done.outcome, Void):
                reason = common_reason(done.outcome.reason)
                reasons[reason] += 1
                time = reasons[reason]
            if not printed.quiet or isinstance(done.outcome, Void):
                line = _line(done, widths, time)
                progress.console.print(line, soft_wrap=True, highlight=False)
            progress.update(bar, completed=pace.settled)

    def notice(sentence: str) -> None:
        if printed.quiet:
            return
        with lock:
            # Above the bar.
            progress.console.print(f"warex: {sentence}", soft_wrap=True, highlight=False)

    try:
        with (
            process_scratch(),
            progress,
            _periodic_notices(pace, notice, terminal=screen.is_terminal or printed.quiet),
        ):
            run_campaign(
                planned,
                out,
                options,
                began=began,
                taken=pace.attempt_started,
                report=report,
                notice=notice,
            )
    except KeyboardInterrupt:
        if (note := _resume_hint(out, options, len(planned.trials))) is not None:
            warn(note)
        raise
    _print_results(out, printed, fail_under, on_unclear, outputs or CiOutputs())


def _resume_hint(out: Path, options: RunOptions, trials: int) -> str | None:
    """Return what an interrupted run has kept, and how to go on; None before its folder exists."""
    if not (out / MANIFEST).exists():
        return None
    over = sum(
        any(isinstance(outcome, Counted | Unscored) for outcome in history.outcomes)
        for history in read_history(out).values()
    )
    typed = [*options.command, *(() if options.resume else ("--resume",))]
    how = f"go on with: {shlex.join(typed)}" if options.command else "go on with --resume"
    return f"{out} keeps {over} of {count_noun(trials, 'trial')}; {how}"


class _LiveDisplay(Progress):
    """The running trials above a progress bar."""

    def __init__(self, pace: ProgressTracker, screen: Console, *, quiet: bool = False) -> None:
        self._pace = pace
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _TimeLeftColumn(pace),
            console=screen,
            disable=quiet or not screen.is_terminal,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        for trial in self._pace.running:
            yield Text(f"running  {trial}", style="dim", no_wrap=True, overflow="ellipsis")
        yield self.make_tasks_table(self.tasks)


class _TimeLeftColumn(ProgressColumn):
    def __init__(self, pace: ProgressTracker) -> None:
        super().__init__()
        self._pace = pace

    def render(self, task: Task) -> Text:
        return Text("" if task.finished else self._pace.time_left)


@contextmanager
def _periodic_notices(
    pace: ProgressTracker, notice: Callable[[str], None], *, terminal: bool
) -> Iterator[None]:
    """Print progress lines periodically, unless a terminal shows the progress."""
    if terminal:
        yield
        return
    over = threading.Event()

    def report() -> None:
        while not over.wait(min(_LATEST, max(_SOONEST, pace.now() / 10))):
            notice(str(pace))

    thread = threading.Thread(target=report, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _print_results(
    out: Path,
    printed: Printed,
    fail_under: str | None,
    on_unclear: OnUnclear | None,
    outputs: CiOutputs,
) -> None:
    # Imported late: loading this would delay the first trial.
    from warex.analysis.run.load import load_run
    from warex.analysis.table.tabulate import tabulate
    from warex.report.ci.cases import gate_cases
    from warex.report.ci.results import run_results
    from warex.report.html.page import write_report
    from warex.report.terminal.run_report import render_overview

    loaded = load_run(out)
    table = tabulate(loaded)
    page = write_report(loaded, table)
    if printed.as_json:
        print_summaries([out])
    if printed.in_words:
        screen = console()
        screen.print(render_overview(loaded, table))
        pointers = f"\nfull     {statistics_command(out)}\nreport   {page}"
        screen.print(pointers, highlight=False, soft_wrap=True)
    counts = any(isinstance(trial.outcome, Counted | Unscored) for trial in loaded.trials)
    judgement = judge_thresholds(table, fail_under) if counts else None
    gates = gate_cases(judgement, on_unclear)
    publish_results(run_results(loaded, table, gates, outputs), outputs, printed=printed)
    if not counts:
        raise WarexError(f"no trial of {out} counts: each of them is void, for the reasons above")
    enforce_thresholds(judgement, on_unclear)


def _widths(keys: Iterable[TrialKey]) -> tuple[int, int, int]:
    """Return the column widths of the attempts' lines."""
    named = [(len(key.agent), len(key.condition), len(_task(key))) for key in keys]
    agent, condition, task = (max(column, default=0) for column in zip(*named, strict=True))
    return agent, condition, task


def _line(done: AttemptDone, widths: tuple[int, int, int] = (0, 0, 0), time: int = 1) -> Text:
    """Return an attempt's line; ``time``: how often its reason has come, if it is void."""
    key = done.key
    names = zip((key.agent, key.condition, _task(key)), widths, strict=True)
    place = "  ".join(f"{name:{width}}" for name, width in names)
    match done.outcome:
        case Void(reason=reason):
            why = reason if time == 1 else f"as before ({time} times)"
            text = f" {place}  attempt {done.attempt}: {why}"
            return Text.assemble(("void    ", "yellow"), text)
        case Counted(score=score) as counted:
            mark = ("solved  ", "green") if score == 1 else ("failed  ", "red")
            return Text.assemble(mark, f" {place}  {counted.summary}")
        case Unscored() as unscored:
            return Text(f"unscored {place}  {unscored.summary}")
        case _:
            return Text(f"ended    {place}")


def _task(key: TrialKey) -> str:
    return key.task if key.repeat == 1 else f"{key.task}, repeat {key.repeat}"
