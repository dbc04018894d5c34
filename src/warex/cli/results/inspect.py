"""`warex inspect TRIAL`: one trial, line by line."""

import json
from pathlib import Path

import click

from warex.cli.output import console, echo
from warex.cli.trial_path import latest_attempt
from warex.errors import InputError, TraceError


@click.command("inspect")
@click.argument("trial", type=click.Path(path_type=Path))
@click.option(
    "--full",
    is_flag=True,
    help="Show each fault, prompts and answers whole, and the names looked up.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option(
    "--log",
    "as_log",
    is_flag=True,
    help="Print the log of the paper's Appendix F: every LLM request and response.",
)
def command(trial: Path, full: bool, as_json: bool, as_log: bool) -> None:
    """Show what happened in a trial: its faults, and page, prompt and answer at each step.

    TRIAL is an attempt's folder, or the trial's, whose last attempt is then shown. With --log it
    may be any folder of trials, such as a condition's or the whole run's.
    """
    from warex.analysis.inspection.as_json import inspection_json
    from warex.analysis.inspection.timeline import inspect_trial
    from warex.report.terminal.inspection import render_inspect

    if not trial.is_dir():
        raise TraceError(f"{trial} is not a folder; give that of a trial or of one of its attempts")
    if as_log:
        from warex.report.formats.paper_log import paper_logs

        if as_json:
            raise InputError("--log and --json are two formats; give one of them")
        for number, log in enumerate(paper_logs(trial)):
            echo(f"\n{log}" if number else log, end="")
        return
    inspection = inspect_trial(latest_attempt(trial))
    if as_json:
        echo(json.dumps(inspection_json(inspection), indent=2))
        return
    # Every line fits, and checking that again is slow.
    console().print(render_inspect(inspection, full=full), crop=False)
