"""The report as one self-contained HTML file, without network requests."""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from warex.analysis.metrics.row import METRICS
from warex.analysis.output.summary import summarise
from warex.analysis.run.load import Run
from warex.analysis.table.conclusions import conclusions
from warex.analysis.table.tabulate import Table, tabulate
from warex.report.charts import charts
from warex.report.charts.conditions import effort_panels
from warex.report.charts.dose_response import dose_panels
from warex.report.charts.palette import DARK, HEAT_STEPS, LIGHT, css_variables
from warex.report.charts.svg import Chart, inline, style
from warex.report.tables.columns import CONDITION, column
from warex.report.tables.standard import sheets
from warex.report.tables.tasks import FILTERS, folder_link, relative, task_sheet
from warex.report.text.footnotes import cut_traces, excluded_pairs, footnotes
from warex.report.text.overview import summaries, warnings
from warex.text.english import count_noun
from warex.text.escaping import escape_controls, escape_controls_in_json
from warex.traces.files import write_atomic

REPORT = "report.html"
SUMMARY = "summary.json"

_UNIT = re.compile(r"(?<=\d) (?=%|[^\W\d])")


def write_report(run: Run, table: Table | None = None) -> Path:
    """Write ``report.html`` and ``summary.json`` into the run's folder; return the report's path.

    Raises MachineError if writing fails.
    """
    table = table or tabulate(run)
    summary = escape_controls_in_json(
        json.dumps(summarise(run, table), indent=2, ensure_ascii=False)
    )
    write_atomic(run.path / SUMMARY, (summary + "\n").encode("utf-8", "replace"))
    write_atomic(run.path / REPORT, render_html(run, table).encode("utf-8", "replace"))
    return run.path / REPORT


def environment() -> Environment:
    """Return an environment that escapes values and fails on undefined names."""
    return Environment(
        loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined
    )


def nonbreaking_units(words: str) -> str:
    """Put a non-breaking space between a number and its unit."""
    return _UNIT.sub("\u00a0", words)


def render_html(run: Run, table: Table) -> str:
    """Return the report as HTML. Links are relative to the run's folder."""
    pages = environment()
    pages.filters["nonbreaking_units"] = nonbreaking_units
    words = pages.get_template("report.html").render(
        name=run.name,
        light=css_variables(LIGHT),
        dark=css_variables(DARK),
        figure_style=style(),
        heats=HEAT_STEPS,
        extent=_extent(run),
        warnings=warnings(run, table),
        summaries=summaries(run, table),
        at_length=conclusions(run, table),
        filters=FILTERS,
        sheet={sheet.name: sheet for sheet in (*sheets(run, table), task_sheet(run))},
        drawn=_charts_by_name(run, table),
        footnotes=footnotes(run, table),
        left_out=excluded_pairs(table),
        cut=[
            {"href": folder_link(run, path), "name": relative(run, path), "why": why}
            for path, why in cut_traces(run)
        ],
        facts=list(_facts(run)),
        meanings=(CONDITION, *map(column, METRICS)),
    )
    return escape_controls(words)


def _charts_by_name(run: Run, table: Table) -> Mapping[str, list[dict[str, object]]]:
    """Return the figures of the page; panels that share a file are separate here."""
    apart: dict[str, Iterable[Chart]] = {
        "effort": effort_panels(run, table),
        "doses": dose_panels(run, table),
    }
    by_name: dict[str, list[dict[str, object]]] = defaultdict(list)
    for chart in charts(run, table):
        for each in apart.get(chart.name, (chart,)):
            by_name[chart.name].append(
                {"title": each.title, "legend": each.legend, "svg": inline(each)}
            )
    return by_name


def _extent(run: Run) -> str:
    tasks = {(trial.key.benchmark, trial.key.task) for trial in run.trials}
    repeats = {trial.key.repeat for trial in run.trials}
    parts = (
        (len(run.trials), "trial"),
        (len(run.agents), "agent"),
        (len(run.conditions), "condition"),
        (len(tasks), "task"),
        (len(repeats), "repeat"),
    )
    return " · ".join(count_noun(number, what) for number, what in parts)


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    if run.manifest:
        yield "made at", run.manifest.made_at
        if run.manifest.command:
            yield "command", shlex.join(run.manifest.command)
        yield "seed", str(run.manifest.seed)
        yield "versions", ", ".join(f"{k} {v}" for k, v in sorted(run.manifest.versions.items()))
    yield "prices of", f"{run.prices.date}, from {run.prices.source}"
