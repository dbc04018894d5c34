"""Bar and interval charts: a row for each condition, in a group for each agent.

Each row has its name at the left and its number at the right, so that a figure is readable without
colours and axis.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from warex.report.charts.plot import Axis, Plot, hatch_legend
from warex.report.charts.svg import Chart, Style, bar, line, mark, rect, shortened, text, width_of
from warex.traces import CLEAN

_WIDTH: Final = 500.0
_ROW: Final = 24.0
_HEAD: Final = 26.0
"""Height of an agent's name."""
_TOP: Final = 8.0
_FOOT: Final = 44.0
_GAP: Final = 10.0
_THICK: Final = 14.0
_PLAIN: Final = Style(1)


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One row."""

    label: str
    value: float | None
    """None where it is not known: the row then says so."""
    value_text: str
    """The number as it is written at the right."""
    interval: tuple[float, float] | None = None
    style: Style = _PLAIN
    total: float | None = None
    """What the value is a part of; the rest is drawn hatched."""


@dataclass(frozen=True, slots=True)
class ChartGroup:
    """An agent's rows."""

    name: str
    entries: tuple[ChartRow, ...]
    shape: int = 0
    """Number of its mark."""
    line_at: float | None = None
    """Where a dashed line is drawn."""
    band: tuple[float, float] | None = None
    """From where to where a difference says nothing."""


def bars(name: str, title: str, groups: Sequence[ChartGroup], axis: Axis) -> Chart:
    """Draw a bar from zero for each row; its length is the value."""

    def draw(plot: Plot, group: ChartGroup, entry: ChartRow, y: float, tip: str) -> Iterable[str]:
        assert entry.value is not None
        start, end = sorted((plot.x(0), plot.x(entry.value)))
        box = (start, y - _THICK / 2, end - start, _THICK)
        yield bar(name, box, entry.style, tip)
        if entry.total is not None and entry.total > entry.value:
            rest = (end, y - _THICK / 2, plot.x(entry.total) - end, _THICK)
            yield bar(name, rest, Style(0, hatched=True), tip)
        yield from _whisker(plot, entry, y)

    return _chart(name, title, groups, axis, draw, "Hatched")


def whiskers(name: str, title: str, groups: Sequence[ChartGroup], axis: Axis) -> Chart:
    """Draw a mark with its interval for each row."""

    def draw(plot: Plot, group: ChartGroup, entry: ChartRow, y: float, tip: str) -> Iterable[str]:
        assert entry.value is not None
        yield from _whisker(plot, entry, y)
        yield mark(group.shape, plot.x(entry.value), y, entry.style.mark_class, tip)

    return _chart(name, title, groups, axis, draw, "Hollow")


def ends(groups: Iterable[ChartGroup]) -> tuple[float, float]:
    """Return the least and the greatest of 0 and all values and ends of intervals."""
    entries = [entry for group in groups for entry in group.entries]
    values = [0.0, *(end for e in entries for end in (e.value or 0.0, *(e.interval or ())))]
    return min(values), max(values)


type _Draw = Callable[[Plot, ChartGroup, ChartRow, float, str], Iterable[str]]


def _chart(
    name: str, title: str, groups: Sequence[ChartGroup], axis: Axis, draw: _Draw, hatched: str
) -> Chart:
    entries = [entry for group in groups for entry in group.entries]
    left = _GAP + max((width_of(shortened(e.label), 12) for e in entries), default=0)
    right = _GAP + max((width_of(e.value_text, 12) for e in entries), default=0)
    bottom = _TOP + sum(_HEAD + _ROW * len(group.entries) for group in groups)
    plot = Plot(left, max(left + 120, _WIDTH - right), _TOP, bottom, axis)
    body = list(plot.axes())
    y = _TOP
    for group in groups:
        body += _group(plot, group, y, draw)
        y += _HEAD + _ROW * len(group.entries)
    width = plot.right + right
    key = " ".join(_key(groups, plot, hatched))
    words = " ".join(
        f"{group.name}: {'; '.join(f'{e.label} {e.value_text}' for e in group.entries)}."
        for group in groups
    )
    return Chart(name, title, words, width, bottom + _FOOT, "".join(body), key)


def _key(groups: Sequence[ChartGroup], plot: Plot, hatched: str) -> Iterable[str]:
    """Explain the signs that are drawn."""
    drawn = [e for group in groups for e in group.entries if e.value is not None]
    if any(entry.interval for entry in drawn):
        yield "Lines: 95 % intervals."
    if any(group.line_at is not None for group in groups):
        yield f"Dashed: {CLEAN}."
    if any(end > start for start, end in (_span(plot, g.band) for g in groups if g.band)):
        yield f"Grey band: how far {CLEAN} differs from {CLEAN}."
    if any(entry.total is not None and entry.total > (entry.value or 0) for entry in drawn):
        yield "Hatched: missed."
    if key := hatch_legend(hatched, ((e.label, e.style.hatched) for e in drawn)):
        yield key


def _span(plot: Plot, values: tuple[float, float]) -> tuple[float, float]:
    """Return where an interval begins and ends, as far as the plot reaches."""
    low, high = (plot.x(plot.across.within(value)) for value in values)
    return low, high


def _group(plot: Plot, group: ChartGroup, top: float, draw: _Draw) -> Iterable[str]:
    low, high = top + _HEAD, top + _HEAD + _ROW * len(group.entries)
    if group.band is not None:
        start, end = _span(plot, group.band)
        yield rect(start, low, end - start, high - low, "band", "the noise floor")
        yield line(plot.x(0), low, plot.x(0), high, "axis")
    if group.line_at is not None:
        yield line(plot.x(group.line_at), low, plot.x(group.line_at), high, "axis dash")
    yield text(0, top + _HEAD - 8, shortened(group.name, 48), "strong")
    for place, entry in enumerate(group.entries):
        y = low + _ROW * (place + 0.5)
        name = shortened(entry.label)
        yield text(plot.left - _GAP, y + 4, name, "soft", "end")
        yield text(plot.right + _GAP, y + 4, entry.value_text, "soft")
        if entry.value is not None:
            yield from draw(
                plot, group, entry, y, f"{group.name}, {entry.label}: {entry.value_text}"
            )


def _whisker(plot: Plot, entry: ChartRow, y: float) -> Iterable[str]:
    if entry.interval is None:
        return
    low, high = _span(plot, entry.interval)
    # A rim in the background colour separates it from the bar.
    for look, reach in (("halo", 4.5), ("rod", 3.5)):
        yield line(low, y, high, y, look)
        for end in (low, high):
            yield line(end, y - reach, end, y + reach, look)
