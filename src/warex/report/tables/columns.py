"""Cells of tables, and the columns of metrics.

The terminal, HTML, LaTeX and Markdown show a cell's text; CSV gets its plain values, each in its
own column.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from warex.analysis.metrics.metric import Bare, Metric, Names, PassK, Unit, columns_of, values_of
from warex.analysis.metrics.regimes import Regime
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta
from warex.report.text import formatting
from warex.text.english import count_noun


@dataclass(frozen=True, slots=True)
class Cell:
    """The text of a figure, and its plain values."""

    text: str
    values: tuple[Bare, ...]
    """In the order of the column's ``keys``."""
    subtext: str = ""
    """Small print below the text."""
    href: str = ""
    """Relative to the run's folder."""
    css_class: str = ""
    """Class in HTML."""
    tags: tuple[str, ...] = ()
    """Tags by which a reader can filter."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its title, its definition, and its cell in a row."""

    title: str
    definition: str
    csv_keys: tuple[str, ...]
    """Names of its plain values in CSV."""
    cell: Callable[[Any], Cell]
    is_text: bool = False


def number_cell[T: (int, float)](number: T | None, write: Callable[[T], str] = str) -> Cell:
    """Return a cell with a number, or with a dash if it is unknown."""
    return Cell(formatting.UNKNOWN if number is None else write(number), (number,))


def text_column(title: str, meaning: str, path: str = "", key: str = "") -> Column:
    """Return a column of text: of the attribute ``path`` of a row, by default named as its title.

    ``key``, by default the title, names it in CSV.
    """
    read = attrgetter(path or title)

    def cell(row: object) -> Cell:
        return Cell(read(row), (read(row),))

    return Column(title, meaning, (key or title,), cell, is_text=True)


def figure_column(
    path: str,
    title: str,
    meaning: str,
    kind: type,
    write: Callable[[Any], str],
    *,
    key: str = "",
    subtext: Callable[[Any], str] = lambda _: "",
) -> Column:
    """Return a column of figures of a kind: of an attribute such as ``slope`` or ``series.slope``.

    ``key``, by default the attribute's own name, names their plain values in CSV.
    """
    read = attrgetter(path)

    def cell(row: object) -> Cell:
        figure = read(row)
        if figure is None:
            return Cell(formatting.UNKNOWN, values_of(None, kind))
        return Cell(write(figure), values_of(figure, kind), subtext(figure))

    return Column(title, meaning, tuple(columns_of(key or path.rpartition(".")[2], kind)), cell)


def number_column(
    path: str, title: str, meaning: str, write: Callable[[Any], str] = str, *, key: str = ""
) -> Column:
    """Return a column of numbers."""
    return figure_column(path, title, meaning, float, write, key=key)


def rate_column(path: str, title: str, meaning: str, *, interval: bool = False) -> Column:
    """Return a column of rates, optionally with their intervals."""
    write = partial(formatting.rate_percent, interval=interval)
    return figure_column(path, title, meaning, Rate, write)


def difference_column(path: str, title: str, meaning: str, *, pairs: bool = True) -> Column:
    """Return a column of differences in points, with the numbers of their pairs if asked."""

    def subtext(delta: Delta) -> str:
        return count_noun(delta.pairs, "pair") if pairs else ""

    return figure_column(path, title, meaning, Delta, formatting.delta, subtext=subtext)


CONDITION = text_column(
    "condition", "What was varied. no-proxy: without WAREX; clean: through it, without faults."
)


def column(metric: Metric[Any], *, interval: bool = True) -> Column:
    """Return the column of a metric, with the values of metrics beside it.

    With ``interval``, its text has its interval if the metric shows it.
    """
    keys = (key for each in (metric, *_extra_metrics(metric)) for key in each.columns)
    write = partial(cell, metric, interval=interval)
    return Column(metric.label, metric.definition, tuple(keys), write, metric.is_text)


def cell(metric: Metric[Any], row: ConditionRow, *, interval: bool = True) -> Cell:
    """Return a row's cell in the column of a metric."""
    values = (value for each in (metric, *_extra_metrics(metric)) for value in each.values(row))
    words = text(metric, row, interval=interval)
    return Cell(words, tuple(values), ", ".join(_small_print(metric, row)))


def text(metric: Metric[Any], row: ConditionRow, *, interval: bool = True) -> str:
    """Return the text of a row's figure; with ``interval``, its interval if the metric shows it."""
    figure = metric.of(row)
    interval = interval and metric.shows_interval
    match figure:
        case None:
            return formatting.UNKNOWN
        case Rate():
            return formatting.rate_percent(figure, interval=interval)
        case Delta():
            return formatting.delta(figure, interval=interval)
        case Mean():
            ends = figure.interval if interval else None
            span = [formatting.amount(end, metric.unit) for end in ends or ()]
            words = _amount(figure.value, metric.unit, row)
            return f"{words} [{', '.join(span)}]" if span else words
        case PassK():
            return f"{100 * figure.value:.0f} % (k {figure.k})"
        case Regime():
            return figure.name
        case int():
            return str(figure)
        case float():
            return _amount(figure, metric.unit, row)
        case _:
            return str(figure) or formatting.UNKNOWN


def shown(metrics: Iterable[Metric[Any]], rows: Iterable[ConditionRow]) -> tuple[Metric[Any], ...]:
    """Return the metrics that a table of these rows has a column for."""
    rows = tuple(rows)
    return tuple(m for m in metrics if not m.optional or any(m.of(row) for row in rows))


def _extra_metrics(metric: Metric[Any]) -> Iterator[Metric[Any]]:
    return (each for each in METRICS if each.beside == metric.key)


def _small_print(metric: Metric[Any], row: ConditionRow) -> Iterator[str]:
    figure = metric.of(row)
    if isinstance(figure, Delta) and figure.pairs != row.n:
        yield count_noun(figure.pairs, "pair")
    if isinstance(figure, Regime):
        yield figure.why
    for each in _extra_metrics(metric):
        match each.of(row):
            case Mean(value=value) if value:
                yield f"{formatting.amount(value, each.unit)} {each.label}"
            case int(number) if number:
                yield f"{number} {each.label}"
            case Names() as names if names:
                yield f"{each.label} {names}"


def _amount(value: float, unit: Unit, row: ConditionRow) -> str:
    as_if = row.as_if if unit == "US dollars" else None
    return formatting.usd(value, as_if) if as_if else formatting.amount(value, unit)
