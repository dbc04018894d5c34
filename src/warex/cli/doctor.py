"""`warex doctor`: what works on this machine, and how to mend the rest."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.benchmarks import options_option, table_of
from warex.cli.say import say
from warex.errors import CampaignError, InputError, MachineError

if TYPE_CHECKING:
    from warex.sandbox.finding import Finding

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--benchmark", metavar="NAME", help="Look at what this benchmark needs instead.")
@click.option(
    "--dir", "folder", type=click.Path(path_type=Path), help="The benchmark's own environment."
)
@options_option
def command(
    as_json: bool, benchmark: str | None, folder: Path | None, options: tuple[str, ...]
) -> None:
    """Try all that WAREX needs of this machine, or all that a benchmark needs.

    Exit code 0 if `warex demo`, or the benchmark, can run here, otherwise 3.
    """
    subject = "`warex demo`" if benchmark is None else f"the benchmark {benchmark!r}"
    findings: list[Finding] = []
    for finding in _examined(benchmark, folder, options):
        findings.append(finding)
        if not as_json:
            said = f" {finding.name:21} {finding.sentence}"
            say(said, lead=f"{finding.state:8}", colour=_COLOURS[finding.state])
    lacking = [finding for finding in findings if finding.needed and finding.state != "ok"]
    if as_json:
        report = {"ok": not lacking, "findings": [asdict(finding) for finding in findings]}
        say(json.dumps(report, indent=2))
    elif not lacking:
        say(f"\nAll that {subject} needs works.")
    if lacking:
        # Each sentence ends with its remedy, and stands once more where a script would look.
        why = "; ".join(f"{finding.name}: {finding.sentence}" for finding in lacking)
        raise MachineError(f"{subject} cannot run here yet. {why}")


def _examined(
    benchmark: str | None, folder: Path | None, options: tuple[str, ...]
) -> "Iterable[Finding]":
    if benchmark is None:
        if options:
            raise InputError("--option goes with --benchmark")
        from warex.sandbox.doctor import examine

        return examine()
    from warex.benchmarks import benchmark_kind

    kind = benchmark_kind(benchmark)
    try:
        return kind(table_of(benchmark, folder, options)).needs()
    except CampaignError as error:
        if options:
            raise
        raise CampaignError(f"{benchmark} needs options (--option KEY=VALUE): {error}") from None
