"""`warex compare RUN RUN`: is an agent better, worse, or is it unclear?"""

from pathlib import Path

import click

from warex.cli import completion
from warex.cli.options.ci import ci_options, ci_outputs, publish_results
from warex.cli.options.parameters import Printed, json_option, quiet_option
from warex.cli.options.thresholds import (
    OnUnclear,
    check_on_unclear,
    enforce,
    on_unclear_option,
)
from warex.cli.output import console, echo_json


def _parse(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from warex.analysis.output.comparison_gate import CHANGES
        from warex.analysis.output.thresholds import parse_thresholds

        parse_thresholds(value, CHANGES)
    return value


@click.command("compare")
@click.argument("before", metavar="RUN[:AGENT]", shell_complete=completion.FILE)
@click.argument("after", metavar="RUN[:AGENT]", shell_complete=completion.FILE)
@json_option
@quiet_option
@click.option(
    "--fail-if-worse",
    is_flag=True,
    help="Exit with 1 if the verdict is worse, with 4 if it is cannot tell.",
)
@click.option(
    "--fail-under",
    metavar="EXPR",
    callback=_parse,
    help="Exit with 1 unless delta>=-0.1, server-error.delta_recovery>=0, …, joined by `and`; with"
    " 4 if that cannot be decided.",
)
@on_unclear_option
@ci_options
def command(
    before: str,
    after: str,
    as_json: bool,
    quiet: bool,
    fail_if_worse: bool,
    fail_under: str | None,
    on_unclear: OnUnclear | None,
    junit: Path | None,
    junit_trials: bool,
    sarif: Path | None,
) -> None:
    """Compare two agents, or two versions of one, over the trials that two runs share.

    Agents of the same name are compared; RUN:AGENT names one, as to compare two of the same run.
    The verdict is better, worse or cannot tell: about these very tasks, and about tasks like these.
    """
    check_on_unclear(on_unclear, fail_if_worse, fail_under)
    printed = Printed(quiet, as_json)
    outputs = ci_outputs(junit, junit_trials, sarif)

    from warex.analysis.output.comparison import (
        ComparedAgent,
        agents_to_compare,
        compare,
        comparison_data,
    )
    from warex.analysis.output.comparison_gate import judge_comparisons, judge_verdicts
    from warex.analysis.output.thresholds import combined
    from warex.analysis.run.load import load_run
    from warex.report.ci.cases import gate_cases
    from warex.report.ci.results import comparison_results
    from warex.report.terminal.comparison import render_comparison

    (path, agent), (other_path, other_agent) = _named(before), _named(after)
    first = load_run(path)
    second = first if other_path == path else load_run(other_path)
    comparisons = [
        compare(ComparedAgent(first, one), ComparedAgent(second, other))
        for one, other in agents_to_compare(first, second, (agent, other_agent))
    ]
    if as_json:
        echo_json([comparison_data(each) for each in comparisons])
    if printed.in_words:
        for each in comparisons:
            console().print(render_comparison(each))
    gates = [judge_verdicts(comparisons)] if fail_if_worse else []
    gates += [judge_comparisons(comparisons, fail_under)] if fail_under is not None else []
    judgement = combined(gates)
    results = comparison_results(comparisons, gate_cases(judgement, on_unclear), outputs)
    publish_results(results, outputs, printed=printed)
    enforce(judgement, on_unclear, "the comparison fails", "the comparison fails")


def _named(text: str) -> tuple[Path, str | None]:
    """Split RUN:AGENT; a folder may have a colon in its name."""
    path, mark, agent = text.rpartition(":")
    return (Path(path), agent) if mark and not Path(text).exists() else (Path(text), None)
