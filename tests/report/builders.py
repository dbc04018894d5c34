"""Builders of tables, and a reader of charts."""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.table.tabulate import Table
from warex.llm.prices.table import built_in_prices
from warex.report.charts.svg import Chart, standalone

KEYS = {metric.key for metric in METRICS}


def row(
    condition: str, hits: int = 1, n: int = 2, agent: str = "patient", **more: object
) -> ConditionRow:
    """Return a row; ``more``: its facts and figures, by default None."""
    known = {name: value for name, value in more.items() if name in KEYS}
    facts = {name: value for name, value in more.items() if name not in KEYS}
    figures = {"n": n, "voids": 0, "success": Rate(hits, n), **known}
    return ConditionRow(agent=agent, condition=condition, figures=figures, **facts)  # type: ignore[arg-type] # what a test names by hand


def mean(value: float, *interval: float) -> Mean:
    """Return a mean over ten trials."""
    low_high = (interval[0], interval[1]) if interval else None
    return Mean(value, low_high, 10)


def table(*rows: ConditionRow, **more: object) -> Table:
    """Return a table of these rows."""
    fields: dict[str, object] = {"left_out": (), "unfinished": 0, "proxy_effect": (), **more}
    return Table(rows=rows, **fields)  # type: ignore[arg-type] # what a test names by hand


def run(*rows: ConditionRow) -> Run:
    """Return a run with the agents and conditions of these rows, and without trials."""
    return Run(
        path=Path(),
        manifest=None,
        attempts=(),
        agents=tuple(dict.fromkeys(each.agent for each in rows)),
        conditions=tuple(dict.fromkeys(each.condition for each in rows)),
        prices=built_in_prices(),
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """An element of a chart."""

    tag: str
    look: tuple[str, ...]
    attributes: dict[str, str]
    words: str

    def __getitem__(self, name: str) -> float:
        return float(self.attributes[name])


def shapes(chart: Chart, look: str = "") -> list[Shape]:
    """Return the chart's elements in order, or those of one class."""
    results = []
    for element in ElementTree.fromstring(standalone(chart)).iter():
        classes = tuple(element.get("class", "").split())
        if not look or look in classes:
            tag = element.tag.rpartition("}")[2]
            results.append(Shape(tag, classes, dict(element.attrib), element.text or ""))
    return results


def words(chart: Chart) -> list[str]:
    """Return the texts in the chart."""
    return [shape.words for shape in shapes(chart) if shape.tag == "text"]
