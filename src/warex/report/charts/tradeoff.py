"""Success against cost: one mark for each agent under each condition."""

from collections.abc import Iterable

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.plot import SUCCESS, Plot, hatch_legend, linear_axis
from warex.report.charts.styles import condition_styles, cost_axis_title
from warex.report.charts.svg import Chart, mark, shortened, text, width_of
from warex.report.tables.columns import text as written
from warex.report.text import formatting

_WIDTH, _HEIGHT = 560.0, 340.0
_LEFT, _RIGHT, _TOP, _FOOT = 52.0, 24.0, 14.0, 48.0
_LINE = 19.0
_KEY = "The number at a mark is its condition; the shape is its agent."
_LETTERS = 11.0

type _Box = tuple[float, float, float, float]


def tradeoff(run: Run, table: Table) -> Chart:
    """Draw cost to the right and success upwards; the number beside a mark is its condition's.

    Rows without a known cost are left out.
    """
    shown = [row for row in table.rows if row.cost_usd and row.success.n]
    styles = condition_styles(table)
    agents = [agent for agent in run.agents if any(row.agent == agent for row in shown)]
    conditions = [c for c in run.conditions if any(row.condition == c for row in shown)]
    most = max((_cost(row) for row in shown), default=1.0)
    axis = linear_axis(cost_axis_title(shown), 0, most, about=5)
    plot = Plot(_LEFT, _WIDTH - _RIGHT, _TOP, _HEIGHT - _FOOT, axis, up=SUCCESS)
    body = list(plot.axes())
    places = [(plot.x(_cost(row)), plot.y(row.success.value or 0)) for row in shown]
    taken: list[_Box] = [(left - 7, top - 7, 14, 14) for left, top in places]
    for row, at in zip(shown, places, strict=True):
        style = styles[row.condition]
        body.append(mark(agents.index(row.agent), *at, style.mark_class, _words(row)))
        body.append(_label(str(1 + conditions.index(row.condition)), at, taken))
    height = _HEIGHT + 6
    legend = [(mark(place, 12, 0, "fill-0"), agent) for place, agent in enumerate(agents)] + [
        (text(4, 4, str(place), "strong"), condition)
        for place, condition in enumerate(conditions, 1)
    ]
    columns = 2
    lines = -(-len(legend) // columns)
    for place, (sign, name) in enumerate(legend):
        column, row_ = divmod(place, lines)
        left, top = _LEFT + column * (_WIDTH - _LEFT) / columns, height + _LINE * (row_ + 0.5)
        body.append(
            f'<g transform="translate({left:.0f} {top:.1f})">{sign}'
            f"{text(28, 4, shortened(name, 32), 'soft')}</g>"
        )
    words = " ".join(f"{_words(row)}." for row in shown)
    tall = height + _LINE * lines + 8
    hollow = hatch_legend("Hollow", ((r.condition, styles[r.condition].hatched) for r in shown))
    key = f"{_KEY} {hollow}".strip()
    return Chart("tradeoff", "Success against cost", words, _WIDTH, tall, "".join(body), key)


def _words(row: ConditionRow) -> str:
    success = formatting.rate_percent(row.success, interval=False)
    return f"{row.agent}, {row.condition}: {success} at {written(ConditionRow.cost_usd, row)}"


def _cost(row: ConditionRow) -> float:
    return row.cost_usd.value if row.cost_usd else 0.0


def _label(words: str, at: tuple[float, float], taken: list[_Box]) -> str:
    """Write beside a mark, where nothing else is drawn if possible."""
    wide = width_of(words, _LETTERS)
    boxes = list(_surrounding_boxes(at, wide))
    box = next((b for b in boxes if not any(_overlap(b, other) for other in taken)), boxes[0])
    taken.append(box)
    return text(box[0], box[1] + _LETTERS - 1.5, words, "faint")


def _surrounding_boxes(at: tuple[float, float], wide: float) -> Iterable[_Box]:
    x, y = at
    for reach in (8.0, 15.0, 22.0):
        for dx, dy in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)):
            left = x + reach * dx - (wide if dx < 0 else 0 if dx else wide / 2)
            yield left, y + reach * dy - _LETTERS / 2, wide, _LETTERS


def _overlap(one: _Box, other: _Box) -> bool:
    return (
        one[0] < other[0] + other[2]
        and other[0] < one[0] + one[2]
        and one[1] < other[1] + other[3]
        and other[1] < one[1] + one[3]
    )
