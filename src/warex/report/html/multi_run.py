"""One report over several runs: the success of each, and the paper's table of all."""

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from warex.analysis.table.tabulate import TabulatedRun
from warex.report.charts.palette import DARK, HEAT_STEPS, LIGHT, css_variables
from warex.report.html.page import REPORT, environment
from warex.report.tables.paper import paper_sheet
from warex.report.text.footnotes import shared_footnotes
from warex.report.text.overview import successes
from warex.text.english import count_noun
from warex.text.escaping import escape_controls
from warex.traces.files import write_atomic


def write_runs(runs: Sequence[TabulatedRun], folder: Path) -> Path:
    """Write the page of several runs into ``folder``; return it.

    Raises MachineError if writing fails.
    """
    page = folder / REPORT
    words = (
        environment()
        .get_template("multi_run.html")
        .render(
            light=css_variables(LIGHT),
            dark=css_variables(DARK),
            extent=count_noun(len(runs), "run"),
            runs=[
                {
                    "name": run.name,
                    "href": quote(os.path.relpath(run.path / REPORT, folder)),
                    "verdict": successes(run, table),
                }
                for run, table in runs
            ],
            sheet=paper_sheet(runs),
            footnotes=shared_footnotes(runs),
            heats=HEAT_STEPS,
        )
    )
    write_atomic(page, escape_controls(words).encode("utf-8", "replace"))
    return page
