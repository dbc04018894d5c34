"""`warex run CAMPAIGN`: a campaign file or a built-in one."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warex.cli import completion
from warex.cli.options.campaign import campaign_changes, campaign_options
from warex.cli.options.ci import ci_options, ci_outputs
from warex.cli.options.parameters import PATH, Printed, json_option, quiet_option
from warex.cli.options.thresholds import OnUnclear, check_on_unclear, fail_under_option
from warex.cli.options.traffic import traffic_options
from warex.cli.output import warn
from warex.cli.trial_path import find_trace
from warex.errors import InputError
from warex.traffic import TrafficKeywords

if TYPE_CHECKING:
    from warex.analysis.output.thresholds import Scope
    from warex.campaigns.config.campaign import CampaignConfig
    from warex.campaigns.config.customization import Overrides
    from warex.campaigns.plan.campaign_plan import CampaignPlan
    from warex.sandbox.isolation import RequestedIsolation


@click.command("run")
@click.argument("campaign", required=False, metavar="CAMPAIGN", shell_complete=completion.CAMPAIGN)
@click.option("-o", "--out", type=PATH, help="Run folder. [default: runs/NAME]")
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    help="Trials to run in parallel. [default: the campaign's]",
)
@click.option("-n", "--limit", type=click.IntRange(1), help="Run at most this many trials.")
@click.option("--resume", is_flag=True, help="Continue a run; keep trials that count.")
@click.option(
    "--dry-run", is_flag=True, help="Print the planned trials, their time and cost; run nothing."
)
@click.option(
    "--intensity",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="X",
    help="Multiply the size of all faults by this.",
)
@click.option(
    "--replay",
    type=PATH,
    metavar="TRIAL",
    help="Repeat this trial's task and faults with each agent.",
)
@click.option(
    "--ray",
    is_flag=False,
    flag_value="local",
    metavar="[ADDRESS]",
    help="Run on this Ray cluster, or on one that is started here.",
)
@click.option(
    "--isolate",
    type=click.Choice(["auto", "namespace", "environment"]),
    help="How agents are put behind the proxy. [default: the campaign's]",
)
@json_option
@quiet_option
@campaign_options
@fail_under_option
@ci_options
@traffic_options
@click.pass_obj
def command(
    typed: tuple[str, ...],
    /,
    campaign: str | None,
    out: Path | None,
    jobs: int | None,
    limit: int | None,
    resume: bool,
    dry_run: bool,
    intensity: float | None,
    replay: Path | None,
    ray: str | None,
    isolate: "RequestedIsolation | None",
    as_json: bool,
    quiet: bool,
    benchmark: str | None,
    fail_under: str | None,
    on_unclear: OnUnclear | None,
    junit: Path | None,
    junit_trials: bool,
    sarif: Path | None,
    traffic: TrafficKeywords,
    **adapting: Any,
) -> None:
    """Run a campaign: every agent on every task under every condition.

    CAMPAIGN is a file or a built-in name: demo, paper, popup, intensity-sweep, frequency-sweep.
    `warex run paper --benchmark real --agent gpt-4o --dir DIR` runs the paper's experiment on REAL;
    `warex init --from paper` with the same options writes it as a file.
    """
    check_on_unclear(on_unclear, fail_under)
    if dry_run and as_json:
        raise click.UsageError("--json prints results, and --dry-run has none; leave one out")
    outputs = ci_outputs(junit, junit_trials, sarif)

    from warex.campaigns.config.options import RunOptions
    from warex.campaigns.plan.campaign_plan import plan, plan_replay
    from warex.campaigns.plan.dosing import with_intensity
    from warex.cli.campaigns.dry_run import print_dry_run
    from warex.cli.campaigns.live_display import run_and_report
    from warex.traces import escape

    if campaign is None:
        raise _without_campaign(ray)
    config = _config(campaign, campaign_changes(benchmark, **adapting)).with_traffic(**traffic)
    if intensity is not None:
        if replay is not None:
            raise InputError("--intensity changes what --replay repeats; give one of the two")
        config, skipped = with_intensity(config, intensity)
        for name in skipped:
            warn(f"the condition {name!r} has a fault without a size and stays as it is")
    planned = plan(config) if replay is None else plan_replay(config, find_trace(replay))
    if fail_under is not None:
        from warex.analysis.output.thresholds import check_scopes

        check_scopes(fail_under, _scopes(planned))
    options = RunOptions(
        jobs=jobs,
        limit=limit,
        resume=resume,
        ray=ray,
        isolate=isolate,
        command=typed,
    )
    folder = out or Path("runs") / escape(planned.config.name)
    if dry_run:
        print_dry_run(planned, folder, options)
    else:
        run_and_report(
            planned, folder, options, fail_under, on_unclear, outputs, Printed(quiet, as_json)
        )


def _scopes(planned: "CampaignPlan") -> "list[Scope]":
    """Return the rows that the run will have."""
    from warex.analysis.output.thresholds import Scope
    from warex.campaigns.plan.lint import inert_conditions

    faulted = {spec.key.condition for spec in planned.trials if spec.scenario is not None}
    inert = inert_conditions(planned)
    return [
        Scope(agent.name, each.name, each.name in faulted, inert.get(each.name, ""))
        for agent in planned.config.agents
        for each in planned.config.conditions
    ]


def _config(campaign: str, changes: "Overrides") -> "CampaignConfig":
    from warex.campaigns.config.campaign import built_in_names, load_campaign
    from warex.campaigns.config.customization import customize

    if not changes.any:
        return load_campaign(campaign)
    if campaign not in built_in_names() and Path(campaign).suffix:
        raise InputError(
            f"{campaign} is a file, and --benchmark, --agent and what goes with them change"
            " built-in campaigns; change the file"
        )
    made = customize(campaign, changes, file=campaign)
    if made.no_proxy_reason is not None:
        warn(f"there is no condition 'no-proxy': {made.no_proxy_reason}")
    return made.config(campaign)


def _without_campaign(ray: str | None) -> Exception:
    if ray in (None, "local"):
        return click.UsageError("Missing argument 'CAMPAIGN'.")
    return InputError(
        f"there is no campaign: --ray has taken {ray!r} for the address of a cluster; put the"
        f" campaign before it: warex run {ray} --ray"
    )
