"""`warex report RUN…`: print the results of runs and write their HTML reports."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warex.cli.options.ci import ci_options, ci_outputs, publish_results
from warex.cli.options.parameters import PATH, Printed, json_option, quiet_option
from warex.cli.options.thresholds import (
    OnUnclear,
    check_on_unclear,
    enforce_thresholds,
    fail_under_option,
    judge_thresholds,
)
from warex.cli.output import console, echo
from warex.errors import CannotTell, InputError, WarexError
from warex.text.english import count_noun
from warex.text.escaping import escape_controls_in_json

if TYPE_CHECKING:
    from warex.analysis.output.thresholds import Judgement
    from warex.analysis.table.tabulate import TabulatedRun


@click.command("report")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=PATH)
@click.option("--full", is_flag=True, help="Print all columns, intervals and tests.")
@json_option
@click.option(
    "--export",
    "folder",
    type=PATH,
    metavar="DIR",
    help="Write SVG figures and CSV, LaTeX and Markdown tables here.",
)
@click.option(
    "--paper", is_flag=True, help="Print relative Δ, in the layout of the paper's Table 1."
)
@quiet_option
@fail_under_option
@ci_options
def command(
    runs: tuple[Path, ...],
    full: bool,
    as_json: bool,
    folder: Path | None,
    paper: bool,
    quiet: bool,
    fail_under: str | None,
    on_unclear: OnUnclear | None,
    junit: Path | None,
    junit_trials: bool,
    sarif: Path | None,
) -> None:
    """Print a run's results and write its report.html and summary.json.

    Several runs are printed in the layout of the paper's Table 1; --export then writes that table
    and a report.html of all of them.
    """
    check_on_unclear(on_unclear, fail_under)
    printed = Printed(quiet, as_json)
    outputs = ci_outputs(junit, junit_trials, sarif)

    from warex.analysis.run.load import load_run
    from warex.analysis.table.tabulate import tabulate
    from warex.exports.run_formats.tables import write_paper_table, write_tables
    from warex.report.ci.cases import gate_cases
    from warex.report.ci.publish import CiReport
    from warex.report.ci.results import run_results
    from warex.report.html.multi_run import write_runs
    from warex.report.html.page import write_report
    from warex.report.terminal.run_report import render_overview, render_table
    from warex.report.terminal.side_by_side import render_runs

    results = [(run, tabulate(run)) for run in map(load_run, dict.fromkeys(runs))]
    reports = [write_report(run, table) for run, table in results]
    run, table = results[0]
    exported: tuple[Path, ...] = ()
    if folder:
        if len(results) > 1:
            tables = write_paper_table(results, folder)
            exported = (write_runs(results, folder), *tables)
        else:
            exported = write_tables(run, folder, table)
    if as_json:
        print_summaries([run.path for run, _ in results])
    if printed.in_words:
        screen = console()
        if paper or len(runs) > 1:
            screen.print(render_runs(results))
        else:
            screen.print(render_overview(run, table))
            if full:
                screen.print()
                screen.print(render_table(run, table))
            else:
                echo(f"\nfull     {statistics_command(runs[0])}", end="")
        for report in reports:
            echo(f"\nreport   {report}", end="")
        echo()
        if exported:
            echo(f"export   {folder}: {count_noun(len(exported), 'file')}")
    judgements = _judge(results, fail_under)
    ci = CiReport()
    for (run, table), judgement in zip(results, judgements, strict=True):
        ci += run_results(run, table, gate_cases(judgement, on_unclear), outputs)
    publish_results(ci, outputs, printed=printed)
    _enforce(results, judgements, on_unclear)


def _judge(results: "Sequence[TabulatedRun]", fail_under: str | None) -> "list[Judgement | None]":
    """Hold each run against the thresholds. Raises InputError with the run that lacks a row."""
    judgements = []
    for run, table in results:
        try:
            judgements.append(judge_thresholds(table, fail_under))
        except InputError as error:
            raise InputError(f"{run.path}: {error}" if len(results) > 1 else str(error)) from error
    return judgements


def _enforce(
    results: "Sequence[TabulatedRun]",
    judgements: "Sequence[Judgement | None]",
    on_unclear: OnUnclear | None,
) -> None:
    """Raise WarexError with what each run lacks; CannotTell if that is open for all of them."""
    failed = list[str]()
    kind: type[WarexError] = CannotTell
    for (run, _), judgement in zip(results, judgements, strict=True):
        try:
            enforce_thresholds(judgement, on_unclear)
        except WarexError as error:
            failed.append(f"{run.path}: {error}" if len(results) > 1 else str(error))
            kind = kind if isinstance(error, CannotTell) else WarexError
    if failed:
        raise kind("\n".join(failed))


def print_summaries(runs: Sequence[Path]) -> None:
    """Print the summaries of runs as JSON: a list, unless it is one run's."""
    from warex.report.html.page import SUMMARY

    summaries = [json.loads((run / SUMMARY).read_bytes()) for run in runs]
    shown = summaries if len(summaries) > 1 else summaries[0]
    echo(escape_controls_in_json(json.dumps(shown, indent=2, ensure_ascii=False)))


def statistics_command(run: Path) -> str:
    """Return the command line that prints a run's statistics."""
    return shlex.join(("warex", "report", str(run), "--full"))
