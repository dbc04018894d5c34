"""A campaign at work: a bar, a line for each attempt, at the end the tables."""

import threading
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from warex.campaigns.options import Options
from warex.campaigns.run import Planned, run_campaign
from warex.campaigns.runner import Done
from warex.cli.gate import hold
from warex.cli.say import console
from warex.errors import WarexError
from warex.proxy.ca import ensure_ca
from warex.sandbox.scratch import own_scratch
from warex.traces import Counted, Unscored, Void


def run_and_report(
    planned: Planned, out: Path, options: Options, fail_under: str | None = None
) -> None:
    """Run a campaign with a progress bar, print its tables, write its report.

    Raises WarexError where not one trial counts, and where ``fail_under`` is not reached.
    """
    # Before the run folder is made, which would stand in the next try's way.
    ensure_ca()
    screen = console()
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=screen,
    )
    lock = threading.Lock()
    bar = progress.add_task(planned.config.name, total=None)

    def began(trials: int) -> None:
        progress.update(bar, total=trials)

    def report(done: Done) -> None:
        with lock:
            progress.console.print(_line(done), soft_wrap=True, highlight=False)
            if isinstance(done.outcome, Counted | Unscored):
                progress.advance(bar)

    def notice(sentence: str) -> None:
        with lock:
            progress.console.print(f"warex: {sentence}", soft_wrap=True, highlight=False)

    with own_scratch(), progress:
        run_campaign(planned, out, options, began=began, report=report, notice=notice)
    _tell(out, screen, fail_under)


def _tell(out: Path, screen: Console, fail_under: str | None) -> None:
    # What reads runs is large, and would keep the first trial waiting.
    from warex.analysis.run import load_run
    from warex.analysis.table import tabulate
    from warex.report.html import write_report
    from warex.report.terminal import render_table

    loaded = load_run(out)
    table = tabulate(loaded)
    page = write_report(loaded, table)
    screen.print(render_table(loaded, table))
    screen.print(f"\nrun      {out}\nreport   {page}", highlight=False, soft_wrap=True)
    if not any(isinstance(trial.outcome, Counted | Unscored) for trial in loaded.trials):
        raise WarexError(f"no trial of {out} counts: each of them is void, for the reasons above")
    hold(table, fail_under)


def _line(done: Done) -> Text:
    key = done.key
    place = f"{key.agent:12} {key.condition:22} {key.task:34}"
    match done.outcome:
        case Void(reason=reason):
            said = f" {place} attempt {done.attempt}: {reason}"
            return Text.assemble(("void    ", "yellow"), said)
        case Counted(score=score, ending=ending, latency_s=latency):
            mark = ("solved  ", "green") if score == 1 else ("failed  ", "red")
            return Text.assemble(mark, f" {place} {ending}, {latency:.1f} s")
        case Unscored() as unscored:
            return Text(f"unscored {place} {unscored.told}")
        case _:
            return Text(f"ended    {place}")
