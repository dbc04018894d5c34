"""`warex inspect TRIAL`: one trial, line by line."""

from pathlib import Path

import click

from warex.cli.trial import attempt_of
from warex.errors import TraceError


@click.command("inspect")
@click.argument("trial", type=click.Path(path_type=Path))
def command(trial: Path) -> None:
    """Show where each number of a trial comes from.

    TRIAL is an attempt's folder, or the trial's, whose last attempt is then shown.
    """
    from rich.console import Console

    from warex.analysis.inspect import inspect_trial
    from warex.report.terminal import render_inspect

    if not trial.is_dir():
        raise TraceError(f"{trial} is not a folder; give that of a trial or of one of its attempts")
    Console().print(render_inspect(inspect_trial(attempt_of(trial))))
