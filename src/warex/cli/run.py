"""`warex run CAMPAIGN`: a campaign file or a built-in one."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from warex.cli.gate import fail_under_option
from warex.cli.say import say
from warex.cli.traffic import traffic_options
from warex.cli.trial import attempt_of
from warex.errors import InputError

if TYPE_CHECKING:
    from warex.sandbox.isolation import Wish
    from warex.scenarios import Arm


@click.command("run")
@click.argument("campaign", required=False, metavar="CAMPAIGN")
@click.option("--out", type=click.Path(path_type=Path), help="Run folder; default runs/NAME.")
@click.option("--jobs", type=click.IntRange(1, 256), help="Lanes; default: the campaign's.")
@click.option("--limit", type=click.IntRange(1), help="At most so many trials in this go.")
@click.option("--resume", is_flag=True, help="Go on with a run: counted trials stay.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the grid, what is left of it and what that may take; run none.",
)
@click.option(
    "--intensity",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="X",
    help="Multiply the size of all faults that have one, in place of the campaign's intensities.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="TRIAL",
    help="Run the trial's task under its ledger, once for each agent of the campaign.",
)
@click.option(
    "--ray",
    is_flag=False,
    flag_value="local",
    metavar="[ADDRESS]",
    help="Run on the Ray cluster at this address; without one, on a cluster of this machine's own.",
)
@click.option(
    "--isolate",
    type=click.Choice(["auto", "namespace", "environment"]),
    help="How agents are put behind the proxy; default: the campaign's, which is auto.",
)
@fail_under_option
@traffic_options
@click.pass_obj
def command(
    typed: tuple[str, ...],
    campaign: str | None,
    out: Path | None,
    jobs: int | None,
    limit: int | None,
    resume: bool,
    dry_run: bool,
    intensity: float | None,
    replay: Path | None,
    ray: str | None,
    isolate: str | None,
    fail_under: str | None,
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
    from warex.campaigns.doses import at_intensity
    from warex.campaigns.options import Options
    from warex.campaigns.run import plan, plan_replay
    from warex.cli.dry_run import print_dry_run
    from warex.cli.progress import run_and_report
    from warex.traces import escape

    if campaign is None:
        raise _without_campaign(ray)
    config = load_campaign(campaign)
    if intensity is not None:
        if replay is not None:
            raise InputError("--intensity changes what --replay repeats; give one of the two")
        config, spared = at_intensity(config, intensity)
        for name in spared:
            say(
                f"warex: the condition {name!r} has a fault without a size and stays as it is",
                err=True,
            )
    planned = plan(config) if replay is None else plan_replay(config, attempt_of(replay))
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
        ray=ray,
        isolate=cast("Wish | None", isolate),
        command=typed,
    )
    folder = out or Path("runs") / escape(planned.config.name)
    if dry_run:
        print_dry_run(planned, folder, options)
        return
    run_and_report(planned, folder, options, fail_under)


def _without_campaign(ray: str | None) -> Exception:
    if ray in (None, "local"):
        return click.UsageError("Missing argument 'CAMPAIGN'.")
    return InputError(
        f"there is no campaign: --ray has taken {ray!r} for the address of a cluster; put the"
        f" campaign before it: warex run {ray} --ray"
    )
