"""`warex report RUN`: the tables again, and the report as HTML."""

from pathlib import Path

import click


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
def command(run: Path, as_json: bool) -> None:
    """Print a run's tables and write its report.html and summary.json anew."""
    from rich.console import Console

    from warex.analysis.run import load_run
    from warex.report.html import SUMMARY, write_report
    from warex.report.terminal import render_table

    loaded = load_run(run)
    report = write_report(loaded)
    if as_json:
        click.echo((run / SUMMARY).read_text("utf-8").rstrip())
        return
    Console().print(render_table(loaded))
    click.echo(f"\nreport   {report}")
