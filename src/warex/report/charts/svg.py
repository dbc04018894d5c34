"""Figures as SVG: a few shapes, and one style sheet for the page and for a file of its own.

Shapes carry classes, never colours: in the report they take the page's light or dark colours, in a
file of its own a figure brings them along (light, as paper is).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import floor, log10

from warex.report.charts.palette import HEAT_STEPS, HUES, LIGHT

FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
_OUTLINES = {
    "square": "-0.9,-0.9 0.9,-0.9 0.9,0.9 -0.9,0.9",
    "triangle": "0,-1.15 1.1,0.85 -1.1,0.85",
    "diamond": "0,-1.25 1.25,0 0,1.25 -1.25,0",
    "cross": (
        "-0.4,-1.2 0.4,-1.2 0.4,-0.4 1.2,-0.4 1.2,0.4 0.4,0.4"
        " 0.4,1.2 -0.4,1.2 -0.4,0.4 -1.2,0.4 -1.2,-0.4 -0.4,-0.4"
    ),
    "nabla": "0,1.15 1.1,-0.85 -1.1,-0.85",
    "bar": "-1.2,-0.5 1.2,-0.5 1.2,0.5 -1.2,0.5",
    "star": (
        "0,-1.3 0.35,-0.4 1.25,-0.4 0.55,0.2 0.8,1.1"
        " 0,0.55 -0.8,1.1 -0.55,0.2 -1.25,-0.4 -0.35,-0.4"
    ),
}
"""Points of polygons round the middle of a mark, as SVG writes them."""
SHAPES = ("circle", *_OUTLINES)
"""Marks of agents, which differ without colour."""

_LETTER = 0.61
"""Mean width of a letter, in font sizes: nothing here can measure text."""


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a bar or a mark: its hue, and whether it is hatched (a mark: hollow)."""

    hue: int
    hatched: bool = False

    @property
    def mark_class(self) -> str:
        """The class of a mark."""
        return f"hollow pen-{self.hue}" if self.hatched else f"fill-{self.hue}"


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure."""

    name: str
    """Stem of its file, and its id on the page."""
    title: str
    description: str
    """Alternative text: what it shows."""
    width: float
    height: float
    body: str
    legend: str = ""
    """Legend of the marks that it draws."""


def inline(chart: Chart) -> str:
    """Return the figure for a page, which must hold ``style()``."""
    return "".join(_lines(chart, "<svg"))


def standalone(chart: Chart) -> str:
    """Return the figure as a file of its own, with its style sheet."""
    start, *head, body, end = _lines(chart, '<svg xmlns="http://www.w3.org/2000/svg"')
    sheet = f"<style>{style(lambda colour: LIGHT[colour])}</style>"
    declaration = '<?xml version="1.0" encoding="UTF-8"?>'
    return "\n".join((declaration, start, *head, sheet, body, end, ""))


def _lines(chart: Chart, tag: str) -> Iterator[str]:
    name, width, height = chart.name, num(chart.width), num(chart.height)
    yield (
        f'{tag} class="chart" role="img" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" aria-labelledby="{name}-title {name}-words">'
    )
    yield f'<title id="{name}-title">{escape(chart.title)}</title>'
    yield f'<desc id="{name}-words">{escape(chart.description)}</desc>'
    yield f"{_defs(chart)}{chart.body}"
    yield "</svg>"


def style(colour: Callable[[str], str] = lambda name: f"var(--{name})") -> str:
    """Return the style sheet of all figures; ``colour`` says how a colour is written.

    Not every program that reads SVG knows custom properties, so a file holds plain colours.
    """
    rules = [
        f".chart {{ font-family: {FONT}; font-size: 13px; }}",
        f".chart text {{ fill: {colour('ink')}; }}",
        f".chart .soft {{ fill: {colour('soft')}; font-size: 12px; }}",
        f".chart .faint {{ fill: {colour('soft')}; font-size: 11px; }}",
        ".chart .strong { font-weight: 600; }",
        f".chart .grid {{ stroke: {colour('line')}; stroke-width: 1; fill: none; }}",
        f".chart .axis {{ stroke: {colour('soft')}; stroke-width: 1; fill: none; }}",
        ".chart .dash { stroke-dasharray: 4 3; }",
        f".chart .band {{ fill: {colour('band')}; }}",
        f".chart .rod {{ stroke: {colour('ink')}; stroke-width: 1.5; fill: none; }}",
        f".chart .halo {{ stroke: {colour('card')}; stroke-width: 4.5; fill: none; }}",
        f".chart .hollow {{ fill: {colour('card')}; }}",
    ]
    for hue in range(HUES):
        here = colour(f"hue-{hue}")
        rules += [
            f".chart .fill-{hue} {{ fill: {here}; }}",
            f".chart .tint-{hue} {{ fill: {here}; fill-opacity: .16; }}",
            f".chart .pen-{hue} {{ stroke: {here}; stroke-width: 1.5; }}",
        ]
    rules += [
        f".chart .heat-{step} {{ fill: {colour(f'heat-{step}')}; stroke: {colour('line')}; }}"
        for step in range(HEAT_STEPS)
    ]
    return "\n".join(rules)


def num(value: float) -> str:
    """Write a coordinate: at most two places, no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


def text(x: float, y: float, words: str, look: str = "", anchor: str = "start") -> str:
    """Write words with their baseline at ``y``."""
    style_of = f' class="{look}"' if look else ""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{num(x)}" y="{num(y)}"{style_of}{at}>{escape(words)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    """Draw a line."""
    ends = f'x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}"'
    return f'<line class="{look}" {ends}/>'


def rect(x: float, y: float, width: float, height: float, look: str, tip: str = "") -> str:
    """Draw a rectangle; ``tip`` is its tooltip."""
    size = f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"'
    if tip:
        return f'<rect class="{look}" {size}><title>{escape(tip)}</title></rect>'
    return f'<rect class="{look}" {size}/>'


def path(points: list[tuple[float, float]], look: str) -> str:
    """Draw a line through points."""
    steps = " L".join(f"{num(x)} {num(y)}" for x, y in points)
    return f'<path class="{look}" fill="none" d="M{steps}"/>'


def bar(chart: str, box: tuple[float, float, float, float], style: Style, tip: str = "") -> str:
    """Draw a bar (x, y, width, height); a hatched one needs the figure's name for its pattern."""
    x, y, width, height = box
    if not style.hatched:
        return rect(x, y, width, height, f"bar fill-{style.hue}", tip)
    edge = rect(x, y, width, height, f"bar tint-{style.hue} pen-{style.hue}", tip)
    size = f'x="{num(x)}" y="{num(y)}" width="{num(width)}" height="{num(height)}"'
    return f'{edge}<rect {size} fill="url(#{chart}-hatch-{style.hue})" pointer-events="none"/>'


def mark(shape: int, x: float, y: float, look: str, tip: str = "", r: float = 5) -> str:
    """Draw the mark with that number in ``SHAPES`` (they begin again after the last)."""
    name = SHAPES[shape % len(SHAPES)]
    inside = f"<title>{escape(tip)}</title>" if tip else ""
    if name == "circle":
        return f'<circle class="{look}" cx="{num(x)}" cy="{num(y)}" r="{num(r)}">{inside}</circle>'
    offsets = (map(float, point.split(",")) for point in _OUTLINES[name].split())
    points = " ".join(f"{num(x + r * dx)},{num(y + r * dy)}" for dx, dy in offsets)
    return f'<polygon class="{look}" points="{points}">{inside}</polygon>'


def width_of(words: str, size: float = 13) -> float:
    """Return about how wide words are."""
    return _LETTER * size * len(words)


def shortened(words: str, most: int = 28) -> str:
    """Return words that fit beside a figure."""
    return words if len(words) <= most else f"{words[: most - 1]}…"


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return round numbers from ``low`` on that reach ``high``, about so many."""
    if high <= low:
        high = low + 1
    raw = (high - low) / about
    size = 10.0 ** floor(log10(raw))
    step = next(m * size for m in (1, 2, 2.5, 5, 10) if m * size >= raw * 0.999)
    first = floor(low / step + 1e-9)
    ticks = [first * step]
    while ticks[-1] < high - step * 1e-9:
        ticks.append((first + len(ticks)) * step)
    return [round(tick, 12) for tick in ticks]


def arrange(name: str, title: str, charts: Sequence[Chart], columns: int) -> Chart:
    """Return one figure of several, in rows of ``columns``."""
    words = " ".join(f"{chart.title}: {chart.description}" for chart in charts)
    gap = 24.0
    wide = max(chart.width for chart in charts)
    tall = max(chart.height for chart in charts)
    parts = []
    for place, chart in enumerate(charts):
        row, column = divmod(place, columns)
        x, y = column * (wide + gap), row * (tall + gap)
        body = chart.body.replace(f"url(#{chart.name}-hatch", f"url(#{name}-hatch")
        parts.append(f'<g transform="translate({num(x)} {num(y)})">{body}</g>')
    rows, across = -(-len(charts) // columns), min(columns, len(charts))
    width, height = across * (wide + gap) - gap, rows * (tall + gap) - gap
    return Chart(name, title, words, width, height, "".join(parts))


def _defs(chart: Chart) -> str:
    patterns = [
        f'<pattern id="{chart.name}-hatch-{hue}" width="6" height="6" patternUnits="userSpaceOnUse"'
        f' patternTransform="rotate(45)"><line class="pen-{hue}" x1="0" y1="0" x2="0" y2="6"/>'
        "</pattern>"
        for hue in range(HUES)
        if f"url(#{chart.name}-hatch-{hue})" in chart.body
    ]
    return f"<defs>{''.join(patterns)}</defs>" if patterns else ""
