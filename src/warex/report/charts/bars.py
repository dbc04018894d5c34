"""Bar and interval charts: a row for each condition, in a group for each agent.

Each row has its name at the left and its number at the right, so that a figure is readable without
colours and axis.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from warex.report.charts.svg import (
    Chart,
    bar,
    line,
    mark,
    mark_class,
    rect,
    shortened,
    text,
    ticks,
    width_of,
)
from warex.traces import CLEAN, NO_PROXY

WIDTH = 500.0
ROW = 24.0
HEAD = 26.0
"""Height of an agent's name."""
_TOP = 8.0
_FOOT = 44.0
_GAP = 10.0
_THICK = 14.0


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One row."""

    label: str
    value: float | None
    """None where it is not known: the row then says so."""
    value_text: str
    """The number as it is written at the right."""
    interval: tuple[float, float] | None = None
    hue: int = 1
    hatched: bool = False
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


@dataclass(frozen=True, slots=True)
class Axis:
    """What runs from left to right."""

    title: str
    low: float
    high: float
    write: Callable[[float], str]


@dataclass(frozen=True, slots=True)
class _Plot:
    left: float
    right: float
    bottom: float
    axis: Axis
    marks: tuple[float, ...]

    def x(self, value: float) -> float:
        share = (value - self.marks[0]) / (self.marks[-1] - self.marks[0])
        return self.left + share * (self.right - self.left)


def bars(name: str, title: str, groups: Sequence[ChartGroup], axis: Axis) -> Chart:
    """Draw a bar from zero for each row; its length is the value."""

    def draw(plot: _Plot, group: ChartGroup, entry: ChartRow, y: float, tip: str) -> Iterable[str]:
        assert entry.value is not None
        start, end = sorted((plot.x(0), plot.x(entry.value)))
        box = (start, y - _THICK / 2, end - start, _THICK)
        yield bar(name, box, entry.hue, entry.hatched, tip)
        if entry.total is not None and entry.total > entry.value:
            rest = (end, y - _THICK / 2, plot.x(entry.total) - end, _THICK)
            yield bar(name, rest, 0, True, tip)
        yield from _whisker(plot, entry, y)

    return _chart(name, title, groups, axis, draw, "Hatched")


def whiskers(name: str, title: str, groups: Sequence[ChartGroup], axis: Axis) -> Chart:
    """Draw a mark with its interval for each row."""

    def draw(plot: _Plot, group: ChartGroup, entry: ChartRow, y: float, tip: str) -> Iterable[str]:
        assert entry.value is not None
        yield from _whisker(plot, entry, y)
        look = mark_class(entry.hue, entry.hatched)
        yield mark(group.shape, plot.x(entry.value), y, look, tip)

    return _chart(name, title, groups, axis, draw, "Hollow")


def ends(groups: Iterable[ChartGroup]) -> tuple[float, float]:
    """Return the least and the greatest of 0 and all values and ends of intervals."""
    entries = [entry for group in groups for entry in group.entries]
    values = [0.0, *(end for e in entries for end in (e.value or 0.0, *(e.interval or ())))]
    return min(values), max(values)


type _Draw = Callable[[_Plot, ChartGroup, ChartRow, float, str], Iterable[str]]


def _chart(
    name: str, title: str, groups: Sequence[ChartGroup], axis: Axis, draw: _Draw, hatched: str
) -> Chart:
    entries = [entry for group in groups for entry in group.entries]
    left = _GAP + max((width_of(shortened(e.label), 12) for e in entries), default=0)
    right = max((width_of(e.value_text, 12) for e in entries), default=0) + _GAP
    height = sum(HEAD + ROW * len(group.entries) for group in groups)
    plot = _Plot(
        left=left,
        right=max(left + 120, WIDTH - right),
        bottom=_TOP + height,
        axis=axis,
        marks=tuple(ticks(axis.low, axis.high, 4)),
    )
    body = list(_scale(plot))
    y = _TOP
    for group in groups:
        body += _group(plot, group, y, draw)
        y += HEAD + ROW * len(group.entries)
    width = plot.right + right
    key = " ".join(_key(groups, plot, hatched))
    words = " ".join(
        f"{group.name}: {'; '.join(f'{e.label} {e.value_text}' for e in group.entries)}."
        for group in groups
    )
    return Chart(name, title, words, width, y + _FOOT, "".join(body), key)


def _key(groups: Sequence[ChartGroup], plot: _Plot, hatched: str) -> Iterable[str]:
    """Explain the signs that are drawn."""
    drawn = [e for group in groups for e in group.entries if e.value is not None]
    if any(entry.interval for entry in drawn):
        yield "Lines: 95 % intervals."
    if any(group.line_at is not None for group in groups):
        yield f"Dashed: {CLEAN}."
    if any(end > start for start, end in (_band(plot, g.band) for g in groups if g.band)):
        yield f"Grey band: how far {CLEAN} differs from {CLEAN}."
    if any(entry.total is not None and entry.total > (entry.value or 0) for entry in drawn):
        yield "Hatched: missed."
    if key := hatch_legend(hatched, ((e.label, e.hatched) for e in drawn)):
        yield key


def hatch_legend(sign: str, shown: Iterable[tuple[str, bool]]) -> str:
    """Say what it means that some of these conditions have this sign; empty if none has."""
    hatched = {condition for condition, is_hatched in shown if is_hatched}
    why = ["without the proxy"] if NO_PROXY in hatched else []
    why += ["with a defence"] if hatched - {NO_PROXY} else []
    return f"{sign}: {', or '.join(why)}." if why else ""


def _band(plot: _Plot, band: tuple[float, float]) -> tuple[float, float]:
    """Return where a band begins and ends, as far as the plot reaches."""
    low, high = (plot.x(min(max(end, plot.marks[0]), plot.marks[-1])) for end in band)
    return low, high


def _scale(plot: _Plot) -> Iterable[str]:
    for tick in plot.marks:
        x = plot.x(tick)
        yield line(x, _TOP, x, plot.bottom, "axis" if tick == 0 else "grid")
        yield text(x, plot.bottom + 16, plot.axis.write(tick), "faint", "middle")
    middle = (plot.left + plot.right) / 2
    yield text(middle, plot.bottom + 34, plot.axis.title, "soft", "middle")


def _group(plot: _Plot, group: ChartGroup, top: float, draw: _Draw) -> Iterable[str]:
    low, high = top + HEAD, top + HEAD + ROW * len(group.entries)
    if group.band is not None:
        start, end = _band(plot, group.band)
        yield rect(start, low, end - start, high - low, "band", "the noise floor")
        yield line(plot.x(0), low, plot.x(0), high, "axis")
    if group.line_at is not None:
        yield line(plot.x(group.line_at), low, plot.x(group.line_at), high, "axis dash")
    yield text(0, top + HEAD - 8, shortened(group.name, 48), "strong")
    for place, entry in enumerate(group.entries):
        y = low + ROW * (place + 0.5)
        name = shortened(entry.label)
        yield text(plot.left - _GAP, y + 4, name, "soft", "end")
        yield text(plot.right + _GAP, y + 4, entry.value_text, "soft")
        if entry.value is not None:
            yield from draw(
                plot, group, entry, y, f"{group.name}, {entry.label}: {entry.value_text}"
            )


def _whisker(plot: _Plot, entry: ChartRow, y: float) -> Iterable[str]:
    if entry.interval is None:
        return
    low, high = (plot.x(min(max(end, plot.marks[0]), plot.marks[-1])) for end in entry.interval)
    # A rim in the background colour separates it from the bar.
    for look, reach in (("halo", 4.5), ("rod", 3.5)):
        yield line(low, y, high, y, look)
        for end in (low, high):
            yield line(end, y - reach, end, y + reach, look)
