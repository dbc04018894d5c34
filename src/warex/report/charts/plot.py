"""A plot: its axes, their scales, and the words that explain its signs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import log2
from typing import Final

from warex.report.charts.svg import line, text, ticks
from warex.traces import NO_PROXY


@dataclass(frozen=True, slots=True)
class Axis:
    """A scale with its ticks, of which the first and the last are its ends."""

    title: str
    ticks: tuple[float, ...]
    write: Callable[[float], str] = "{:g}".format
    doubling: bool = False
    """Whether each doubling is a step of the same length (a logarithmic scale)."""

    def share(self, value: float) -> float:
        """Return where a value is on the scale, from 0 at its low end to 1 at its high end."""
        low, high, at = (
            log2(it) if self.doubling else it for it in (self.ticks[0], self.ticks[-1], value)
        )
        return (at - low) / (high - low) if high > low else 0.5

    def within(self, value: float) -> float:
        """Return the value, or the end of the scale that it lies beyond."""
        return min(max(value, self.ticks[0]), self.ticks[-1])


def linear_axis(
    title: str,
    low: float,
    high: float,
    write: Callable[[float], str] = "{:g}".format,
    about: int = 4,
) -> Axis:
    """Return a scale with about so many round ticks that holds both values."""
    return Axis(title, tuple(ticks(low, high, about)), write)


SUCCESS: Final = linear_axis("success, %", 0, 1, lambda share: f"{100 * share:.0f}")


@dataclass(frozen=True, slots=True)
class Plot:
    """A field with a scale from left to right and, if it has one, a scale upwards."""

    left: float
    right: float
    top: float
    bottom: float
    across: Axis
    up: Axis | None = None
    margin: float = 0
    """Between the sides of the field and the ends of the scale from left to right."""

    def x(self, value: float) -> float:
        """Return where a value is from left to right."""
        width = self.right - self.left - 2 * self.margin
        return self.left + self.margin + self.across.share(value) * width

    def y(self, value: float) -> float:
        """Return where a value is from top to bottom, on the scale upwards."""
        assert self.up is not None
        return self.bottom - self.up.share(value) * (self.bottom - self.top)

    def axes(self) -> Iterator[str]:
        """Draw the scales with their titles; that of the scale upwards is in brackets."""
        title = self.across.title
        if self.up is not None:
            title += f" (upwards: {self.up.title})"
            for tick in self.up.ticks:
                y = self.y(tick)
                yield line(self.left, y, self.right, y, "grid" if tick else "axis")
                yield text(self.left - 8, y + 4, self.up.write(tick), "faint", "end")
        for tick in self.across.ticks:
            x = self.x(tick)
            yield line(x, self.top, x, self.bottom, "grid" if tick else "axis")
            yield text(x, self.bottom + 16, self.across.write(tick), "faint", "middle")
        yield text((self.left + self.right) / 2, self.bottom + 34, title, "soft", "middle")


def hatch_legend(sign: str, shown: Iterable[tuple[str, bool]]) -> str:
    """Say what it means that some of these conditions have this sign; empty if none has."""
    hatched = {condition for condition, is_hatched in shown if is_hatched}
    why = ["without the proxy"] if NO_PROXY in hatched else []
    why += ["with a defence"] if hatched - {NO_PROXY} else []
    return f"{sign}: {', or '.join(why)}." if why else ""
