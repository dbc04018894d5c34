"""`warex run CAMPAIGN`: a campaign file or a built-in one."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from warex.cli.traffic import traffic_options
from warex.cli.trial import attempt_of

if TYPE_CHECKING:
    from warex.sandbox.isolation import Wish
    from warex.scenarios import Arm


@click.command("run")
@click.argument("campaign")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder; default runs/NAME.")
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
@click.option(
    "--isolate",
    type=click.Choice(["auto", "namespace", "environment"]),
    help="How agents are put behind the proxy; default: the campaign's, which is auto.",
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
    isolate: str | None,
    maps: tuple[str, ...],
    upstream: str | None,
    insecure: bool,
    record: str,
    pass_through: tuple[str, ...],
    llm_hosts: tuple[str, ...],
    arm: str | None,
) -> None:
    """Run a campaign: every agent on every task under every condition.

    CAMPAIGN is a file or a built-in name: demo, paper, intensity-sweep, frequency-sweep.
    """
    from warex.campaigns.config import load_campaign
    from warex.campaigns.options import Options
    from warex.campaigns.run import plan, plan_replay
    from warex.cli.progress import run_and_report
    from warex.traces import escape

    config = load_campaign(campaign)
    planned = plan(config) if replay is None else plan_replay(config, attempt_of(replay))
    if dry_run:
        for spec in planned.trials[:limit]:
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
        llm_hosts=llm_hosts,
        arm=cast("Arm | None", arm),
        record=record,
        isolate=cast("Wish | None", isolate),
    )
    run_and_report(planned, out or Path("runs") / escape(planned.config.name), options)
