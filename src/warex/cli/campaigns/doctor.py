"""`warex doctor`: what works on this machine, and how to fix the rest."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli import completion
from warex.cli.options.benchmark import benchmark_option, benchmark_table, dir_option
from warex.cli.options.parameters import json_option
from warex.cli.output import echo, echo_columns, echo_json
from warex.errors import CampaignError, InputError, MachineError

if TYPE_CHECKING:
    from warex.sandbox.doctor.finding import Finding

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


@click.command("doctor")
@click.argument("campaign", required=False, shell_complete=completion.CAMPAIGN)
@json_option
@click.option(
    "--benchmark",
    metavar="NAME",
    help="Check this benchmark's needs instead.",
    shell_complete=completion.BENCHMARK,
)
@dir_option
@benchmark_option
def command(
    campaign: str | None,
    as_json: bool,
    benchmark: str | None,
    folder: Path | None,
    options: tuple[str, ...],
) -> None:
    """Check what `warex demo`, a campaign or a benchmark needs on this machine.

    The exit code is 3 if it cannot run here.
    """
    if campaign is not None and (benchmark is not None or folder is not None or options):
        raise InputError("a campaign names its benchmark itself; give one of the two")
    subject = "`warex demo`" if benchmark is None else f"the benchmark {benchmark!r}"
    if campaign is not None:
        subject = f"the campaign {campaign}"
    findings: list[Finding] = []
    for finding in _examined(campaign, benchmark, folder, options):
        findings.append(finding)
        if not as_json:
            lead, colour = f"{finding.state:9}", _COLOURS[finding.state]
            echo_columns(finding.name, finding.sentence, 21, lead=lead, colour=colour)
    lacking = [finding for finding in findings if finding.needed and finding.state != "ok"]
    if as_json:
        report = {"ok": not lacking, "findings": [asdict(finding) for finding in findings]}
        echo_json(report)
    elif not lacking:
        echo(f"\nAll that {subject} needs works.")
    if lacking:
        # Repeated on standard error, where scripts look; each sentence ends with its remedy.
        why = "; ".join(f"{finding.name}: {finding.sentence}" for finding in lacking)
        raise MachineError(f"{subject} cannot run here yet. {why}")


def _examined(
    campaign: str | None, benchmark: str | None, folder: Path | None, options: tuple[str, ...]
) -> "Iterable[Finding]":
    if campaign is not None:
        from warex.campaigns.config.campaign import load_campaign
        from warex.campaigns.plan.preflight import check_campaign

        return check_campaign(load_campaign(campaign))
    if benchmark is None:
        if options:
            raise InputError("--option goes with --benchmark")
        from warex.sandbox.doctor.machine import check_machine

        return check_machine()
    from warex.benchmarks import benchmark_kind
    from warex.campaigns.plan.preflight import check_benchmark

    kind = benchmark_kind(benchmark)
    try:
        return check_benchmark(kind(benchmark_table(benchmark, folder, options)))
    except CampaignError as error:
        if options:
            raise
        raise CampaignError(f"{benchmark} needs options (--option KEY=VALUE): {error}") from None
