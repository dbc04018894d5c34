"""`warex inspect TRIAL`: one trial, line by line."""

from pathlib import Path

import click

from warex.cli.options.parameters import PATH, json_option
from warex.cli.output import console, echo, echo_json
from warex.cli.trial_path import latest_attempt
from warex.errors import InputError, TraceError


@click.command("inspect")
@click.argument("trial", type=PATH)
@click.option(
    "--full", is_flag=True, help="Print every fault and DNS lookup, and full prompts and answers."
)
@json_option
@click.option(
    "--log",
    "as_log",
    is_flag=True,
    help="Print all LLM requests and responses, as in the paper's Appendix F.",
)
def command(trial: Path, full: bool, as_json: bool, as_log: bool) -> None:
    """Print a trial's faults, and the page, prompt and answer of each step.

    TRIAL is the folder of an attempt, or of a trial for its last attempt. With --log it may be any
    folder of trials, such as a run.
    """
    from warex.analysis.inspection.as_json import inspection_json
    from warex.analysis.inspection.timeline import inspect_trial
    from warex.report.terminal.inspection import render_inspect

    if not trial.is_dir():
        raise TraceError(f"{trial} is not a folder; give that of a trial or of one of its attempts")
    if as_log:
        from warex.exports.run_formats.paper_log import paper_logs

        if as_json:
            raise InputError("--log and --json are two formats; give one of them")
        for number, log in enumerate(paper_logs(trial)):
            echo(f"\n{log}" if number else log, end="")
        return
    inspection = inspect_trial(latest_attempt(trial))
    if as_json:
        echo_json(inspection_json(inspection))
        return
    # Every line fits, and checking that again is slow.
    console().print(render_inspect(inspection, full=full), crop=False)
