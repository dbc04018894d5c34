"""`warex report RUN`: print a run's results and write its HTML report."""

import shlex
from pathlib import Path

import click

from warex.cli.options.common import PATH, json_option
from warex.cli.options.thresholds import check_thresholds, fail_under_option
from warex.cli.output import console, echo
from warex.text.english import count_noun


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
@fail_under_option
def command(
    runs: tuple[Path, ...],
    full: bool,
    as_json: bool,
    folder: Path | None,
    paper: bool,
    fail_under: str | None,
) -> None:
    """Print a run's results and write its report.html and summary.json.

    Several runs are printed in the layout of the paper's Table 1; --export then writes that table
    and a report.html of all of them.
    """
    if paper or len(runs) > 1:
        from warex.cli.results.combined_report import report_runs

        report_runs(runs, as_json=as_json, folder=folder, fail_under=fail_under)
        return
    (run,) = runs
    from warex.analysis.run.load import load_run
    from warex.analysis.table.tabulate import tabulate
    from warex.report.formats.export import export
    from warex.report.html.page import SUMMARY, write_report
    from warex.report.terminal.run_report import render_overview, render_table

    loaded = load_run(run)
    table = tabulate(loaded)
    report = write_report(loaded, table)
    exported = export(loaded, folder, table) if folder else ()
    if as_json:
        echo((run / SUMMARY).read_text("utf-8").rstrip())
    else:
        screen = console()
        screen.print(render_overview(loaded, table))
        if full:
            screen.print()
            screen.print(render_table(loaded, table))
        else:
            echo(f"\nfull     {statistics_command(run)}", end="")
        echo(f"\nreport   {report}")
        if exported:
            echo(f"export   {folder}: {count_noun(len(exported), 'file')}")
    check_thresholds(table, fail_under)


def statistics_command(run: Path) -> str:
    """Return the command line that prints a run's statistics."""
    return shlex.join(("warex", "report", str(run), "--full"))
