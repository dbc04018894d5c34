"""`warex report RUN`: the tables again, and the report as HTML."""

from pathlib import Path

import click

from warex.cli.gate import fail_under_option, hold
from warex.cli.say import console, say


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option(
    "--export",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write figures as SVG and tables as CSV, LaTeX and Markdown into this folder.",
)
@fail_under_option
def command(run: Path, as_json: bool, folder: Path | None, fail_under: str | None) -> None:
    """Print a run's tables and write its report.html and summary.json anew."""
    from warex.analysis.run import load_run
    from warex.analysis.table import tabulate
    from warex.report.exports import export
    from warex.report.html import SUMMARY, write_report
    from warex.report.terminal import render_table

    loaded = load_run(run)
    table = tabulate(loaded)
    report = write_report(loaded, table)
    exported = export(loaded, folder, table) if folder else ()
    if as_json:
        say((run / SUMMARY).read_text("utf-8").rstrip())
    else:
        console().print(render_table(loaded, table))
        say(f"\nreport   {report}")
        if exported:
            say(f"export   {folder}: {len(exported)} files")
    hold(table, fail_under)
