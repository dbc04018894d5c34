"""A campaign at work: a bar, a line for each attempt, at the end the tables."""

import threading
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from warex.analysis.run import load_run
from warex.campaigns.options import Options
from warex.campaigns.run import Planned, run_campaign
from warex.campaigns.runner import Done
from warex.errors import WarexError
from warex.proxy.ca import ensure_ca
from warex.report.html import write_report
from warex.report.terminal import render_table
from warex.sandbox.scratch import own_scratch
from warex.traces import Counted, Unscored, Void


def run_and_report(planned: Planned, out: Path, options: Options) -> None:
    """Run a campaign with a progress bar, print its tables, write its report.

    Raises WarexError where not one trial counts.
    """
    # Before the run folder is made, which would stand in the next try's way.
    ensure_ca()
    console = Console()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
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
    loaded = load_run(out)
    page = write_report(loaded)
    console.print(render_table(loaded))
    console.print(f"\nrun      {out}\nreport   {page}", highlight=False, soft_wrap=True)
    if not any(isinstance(trial.outcome, Counted | Unscored) for trial in loaded.trials):
        raise WarexError(f"no trial of {out} counts: each of them is void, for the reasons above")


def _line(done: Done) -> str:
    key = done.key
    place = f"{key.agent:12} {key.condition:22} {key.task:34}"
    match done.outcome:
        case Void(reason=reason):
            return f"[yellow]void    [/] {place} attempt {done.attempt}: {reason}"
        case Counted(score=score, ending=ending, latency_s=latency):
            mark = "[green]solved  [/]" if score == 1 else "[red]failed  [/]"
            return f"{mark} {place} {ending}, {latency:.1f} s"
        case Unscored(ending=ending, latency_s=latency):
            return f"unscored {place} {ending}, {latency:.1f} s"
        case _:
            return f"ended    {place}"
