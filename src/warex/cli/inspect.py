"""`warex inspect TRIAL`: one trial, line by line."""

import json
from pathlib import Path

import click

from warex.cli.say import console, say
from warex.cli.trial import attempt_of
from warex.errors import TraceError


@click.command("inspect")
@click.argument("trial", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(trial: Path, as_json: bool) -> None:
    """Show where each number of a trial comes from.

    TRIAL is an attempt's folder, or the trial's, whose last attempt is then shown.
    """
    from warex.analysis.inspect import inspect_trial
    from warex.analysis.inspection import as_data
    from warex.report.terminal import render_inspect

    if not trial.is_dir():
        raise TraceError(f"{trial} is not a folder; give that of a trial or of one of its attempts")
    inspection = inspect_trial(attempt_of(trial))
    if as_json:
        say(json.dumps(as_data(inspection), indent=2))
        return
    # Every line fits; to look for more would take longer than all else.
    console().print(render_inspect(inspection), crop=False)
