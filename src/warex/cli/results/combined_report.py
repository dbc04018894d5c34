"""`warex report RUN RUN`: several runs in the layout of the paper's Table 1."""

import json
from pathlib import Path

from warex.cli.options.thresholds import check_thresholds
from warex.cli.output import console, echo
from warex.errors import WarexError
from warex.text.english import count_noun


def report_runs(
    runs: tuple[Path, ...], *, as_json: bool, folder: Path | None, fail_under: str | None
) -> None:
    """Print the table of these runs and rewrite each one's report.

    The table is also written into ``folder``, with a page of all runs if there are several, or all
    that ``--export`` writes of a single run. Raises WarexError if a run misses ``fail_under``.
    """
    from warex.analysis.run.load import load_run
    from warex.analysis.table.tabulate import tabulate
    from warex.report.formats.export import export
    from warex.report.html.multi_run import write_runs
    from warex.report.html.page import SUMMARY, write_report
    from warex.report.terminal.side_by_side import render_runs

    results = [(run, tabulate(run)) for run in map(load_run, dict.fromkeys(runs))]
    reports = [write_report(run, table) for run, table in results]
    if folder is None:
        exported: tuple[Path, ...] = ()
    else:
        exported = (
            write_runs(results, folder) if len(results) > 1 else export(results[0][0], folder)
        )
    if as_json:
        found = [json.loads((run.path / SUMMARY).read_bytes()) for run, _ in results]
        echo(json.dumps(found if len(found) > 1 else found[0], indent=2, ensure_ascii=False))
    else:
        console().print(render_runs(results))
        for report in reports:
            echo(f"\nreport   {report}", end="")
        echo()
        if exported:
            echo(f"export   {folder}: {count_noun(len(exported), 'file')}")
    failed = []
    for run, table in results:
        try:
            check_thresholds(table, fail_under)
        except WarexError as error:
            failed.append(f"{run.path}: {error}" if len(results) > 1 else str(error))
    if failed:
        raise WarexError("\n".join(failed))
