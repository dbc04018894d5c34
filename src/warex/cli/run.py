"""`warex run CAMPAIGN`: a campaign file or a built-in one."""

import threading
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from warex.analysis.run import load_run
from warex.campaigns.config import load_campaign
from warex.campaigns.run import Options, Planned, plan, plan_replay, run_campaign
from warex.campaigns.runner import Done
from warex.cli.traffic import traffic_options
from warex.report.html import write_report
from warex.report.terminal import render_table
from warex.traces import Counted, Void


@click.command("run")
@click.argument("campaign")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder; default runs/<campaign>.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Lanes; default: the campaign's.")
@click.option("--limit", type=click.IntRange(1), help="At most so many trials in this go.")
@click.option("--resume", is_flag=True, help="Go on with a run: counted trials stay.")
@click.option("--dry-run", is_flag=True, help="Print the trials and run none.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="TRIAL",
    help="Run the trial's task under its ledger, once for each agent of the campaign.",
)
@traffic_options
def command(
    campaign: str,
    out: Path | None,
    jobs: int | None,
    limit: int | None,
    resume: bool,
    dry_run: bool,
    replay: Path | None,
    maps: tuple[str, ...],
    upstream: str | None,
    insecure: bool,
    record: str,
    pass_through: tuple[str, ...],
) -> None:
    """Run a campaign: every agent on every task under every condition."""
    config = load_campaign(campaign)
    planned = plan(config) if replay is None else plan_replay(config, replay)
    if dry_run:
        for spec in planned.trials:
            key = spec.key
            click.echo(f"{key.agent:20} {key.condition:24} {key.task:36} repeat {key.repeat}")
        click.echo(f"{len(planned.trials)} trials")
        return
    options = Options(
        jobs=jobs,
        limit=limit,
        resume=resume,
        insecure=insecure,
        upstream=upstream,
        maps=maps,
        pass_through=pass_through,
        record=record,
    )
    run_and_report(planned, out or Path("runs") / planned.config.name, options)


def run_and_report(planned: Planned, out: Path, options: Options) -> None:
    """Run a campaign with a progress bar, print its tables, write its report."""
    console = Console()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )
    counted = 0
    lock = threading.Lock()
    bar = progress.add_task(planned.config.name, total=None)

    def began(trials: int) -> None:
        progress.update(bar, total=trials)

    def report(done: Done) -> None:
        nonlocal counted
        with lock:
            progress.console.print(_line(done), soft_wrap=True, highlight=False)
            if isinstance(done.outcome, Counted):
                counted += 1
                progress.advance(bar)

    with progress:
        run_campaign(planned, out, options, began=began, report=report)
    loaded = load_run(out)
    page = write_report(loaded)
    console.print(render_table(loaded))
    console.print(f"\nrun      {out}\nreport   {page}", highlight=False)


def _line(done: Done) -> str:
    key = done.key
    place = f"{key.agent:12} {key.condition:22} {key.task:34}"
    match done.outcome:
        case Void(reason=reason):
            return f"[yellow]void    [/] {place} attempt {done.attempt}: {reason}"
        case Counted(score=score, ending=ending, latency_s=latency):
            mark = "[green]solved  [/]" if score == 1 else "[red]failed  [/]"
            return f"{mark} {place} {ending}, {latency:.1f} s"
        case _:
            return f"ended    {place}"
