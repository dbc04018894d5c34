"""`warex doctor`: what works on this machine, and how to mend the rest."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from warex.errors import MachineError

if TYPE_CHECKING:
    from warex.sandbox.finding import Finding

_COLOURS = {"ok": "green", "missing": "yellow", "broken": "red"}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(as_json: bool) -> None:
    """Try all that WAREX needs of this machine.

    Exit code 0 if `warex demo` can run here, otherwise 3.
    """
    from warex.sandbox.doctor import examine

    findings: list[Finding] = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            state = click.style(f"{finding.state:8}", fg=_COLOURS[finding.state])
            click.echo(f"{state} {finding.name:21} {finding.sentence}")
    lacking = [finding for finding in findings if finding.needed and finding.state != "ok"]
    if as_json:
        report = {"ok": not lacking, "findings": [asdict(finding) for finding in findings]}
        click.echo(json.dumps(report, indent=2))
    elif not lacking:
        click.echo("\nAll that `warex demo` needs works.")
    if lacking:
        # Each sentence ends with its remedy, and stands once more where a script would look.
        why = "; ".join(f"{finding.name}: {finding.sentence}" for finding in lacking)
        raise MachineError(f"`warex demo` cannot run here yet. {why}")
