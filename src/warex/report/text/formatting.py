"""The format of figures in the terminal and in HTML. An unknown figure is a dash."""

from collections.abc import Callable, Mapping
from typing import Final

from warex.analysis.metrics.metric import Unit
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta

UNKNOWN = "—"


def rate_percent(of: Rate, interval: bool = True) -> str:
    """Write a rate, with its interval if asked: ``5/6 83 % [44, 97]``."""
    if of.value is None:
        return UNKNOWN
    low, high = of.interval
    span = f" [{100 * low:.0f}, {100 * high:.0f}]" if interval else ""
    return f"{of} {100 * of.value:.0f} %{span}"


def fraction(of: Rate | None) -> str:
    """Write a rate as ``k/n``."""
    return str(of) if of and of.n else UNKNOWN


def delta(of: Delta | None, interval: bool = True) -> str:
    """Write a difference in percentage points, always with its sign: ``-42 [-55, -30]``."""
    if of is None:
        return UNKNOWN
    span = f" [{points(of.interval[0])}, {points(of.interval[1])}]" if of.interval else ""
    return f"{points(of.value)}{span if interval else ''}"


def p(of: float | None) -> str:
    """Write a p-value, each with three digits."""
    if of is None:
        return UNKNOWN
    return "< 0.001" if of < 0.001 else f"{of:.3f}"


def usd(of: float | None, as_if: object = None) -> str:
    """Write US dollars, with more digits below 1.

    A cost that was not paid, at the price of the models ``as_if``, is ``as if $0.0125``.
    """
    if of is None:
        return UNKNOWN
    written = f"${of:.2f}" if of >= 1 or of == 0 else f"${of:.4f}"
    return f"as if {written}" if as_if else written


def amount(of: float, unit: Unit) -> str:
    """Write a number of a unit."""
    return _AMOUNTS[unit](of)


def signed(of: float, digits: int) -> str:
    """Write a difference with its sign and so many digits, never -0."""
    return f"{round(of, digits) + 0.0:+.{digits}f}"


def signed_mean(of: Mean, digits: int, unit: str = "") -> str:
    """Write a mean difference with its interval: ``+0.25 s [+0.10, +0.40]``."""
    ends = [signed(end, digits) for end in of.interval or ()]
    return f"{signed(of.value, digits)}{unit}" + (f" [{', '.join(ends)}]" if ends else "")


def points(of: float) -> str:
    """Write a difference of shares in percentage points, with its sign."""
    # Rounded to an integer first, to avoid -0.
    return f"{round(100 * of):+d}"


_AMOUNTS: Final[Mapping[Unit, Callable[[float], str]]] = {
    "count": "{:.1f}".format,
    "ratio": "{:.2f}".format,
    "s": "{:.1f} s".format,
    "tokens": "{:,.0f}".format,
    "tokens/s": "{:.1f}".format,
    "US dollars": usd,
    "p": p,
}
