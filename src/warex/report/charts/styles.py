"""The style of a condition in all figures: one hue per scenario, hatched with a defence.

Conditions without faults are grey: ``no-proxy``, ``clean`` and controls.
"""

from collections.abc import Callable, Iterable, Mapping

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import ChartGroup, ChartRow
from warex.report.charts.palette import HUES
from warex.report.charts.svg import Style
from warex.traces import NO_PROXY


def condition_styles(table: Table) -> Mapping[str, Style]:
    """Return each condition's style; one whose scenario has no name is a scenario of its own."""
    hues: dict[str, int] = {}
    styles: dict[str, Style] = {}
    for row in table.rows:
        if row.condition in styles and row.exposure is None:
            continue
        hatched = row.condition == NO_PROXY or row.defence is not None
        if row.scenario is None and row.exposure is None:
            styles[row.condition] = Style(0, hatched)
            continue
        hue = hues.setdefault(row.scenario or row.condition, 1 + len(hues) % (HUES - 1))
        styles[row.condition] = Style(hue, hatched)
    return styles


def groups(
    run: Run, table: Table, entry: Callable[[ConditionRow, Style], ChartRow | None]
) -> tuple[ChartGroup, ...]:
    """Return a group for each agent with an entry for each of its rows that has one."""
    style = condition_styles(table)
    groups = []
    for number, agent in enumerate(run.agents):
        made = (entry(row, style[row.condition]) for row in table.of(agent))
        entries = tuple(each for each in made if each is not None)
        if entries:
            groups.append(ChartGroup(agent, entries, shape=number))
    return tuple(groups)


def cost_axis_title(rows: Iterable[ConditionRow]) -> str:
    """Return the title of an axis of cost."""
    return f"US dollars per trial{', as if paid' if any(row.as_if for row in rows) else ''}"
