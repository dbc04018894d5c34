"""`warex compare RUN RUN`: is an agent better, worse, or is it unclear?"""

from pathlib import Path

import click

from warex.cli import completion
from warex.cli.options.parameters import json_option
from warex.cli.output import console, echo_json


@click.command("compare")
@click.argument("before", metavar="RUN[:AGENT]", shell_complete=completion.FILE)
@click.argument("after", metavar="RUN[:AGENT]", shell_complete=completion.FILE)
@json_option
@click.option("--fail-if-worse", is_flag=True, help="Exit with 1 if the verdict is worse.")
def command(before: str, after: str, as_json: bool, fail_if_worse: bool) -> int:
    """Compare two agents, or two versions of one, over the trials that two runs share.

    Agents of the same name are compared; RUN:AGENT names one, as to compare two of the same run.
    The verdict is better, worse or cannot tell.
    """
    from warex.analysis.output.comparison import (
        ComparedAgent,
        agents_to_compare,
        compare,
        comparison_data,
    )
    from warex.analysis.run.load import load_run
    from warex.report.terminal.comparison import render_comparison

    (path, agent), (other_path, other_agent) = _named(before), _named(after)
    first = load_run(path)
    second = first if other_path == path else load_run(other_path)
    found = [
        compare(ComparedAgent(first, one), ComparedAgent(second, other))
        for one, other in agents_to_compare(first, second, (agent, other_agent))
    ]
    if as_json:
        echo_json([comparison_data(each) for each in found])
    else:
        for each in found:
            console().print(render_comparison(each))
    return int(fail_if_worse and any(each.verdict == "worse" for each in found))


def _named(text: str) -> tuple[Path, str | None]:
    """Split RUN:AGENT; a folder may have a colon in its name."""
    path, mark, agent = text.rpartition(":")
    return (Path(path), agent) if mark and not Path(text).exists() else (Path(text), None)
