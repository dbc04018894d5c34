"""Two agents side by side, for the terminal."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from warex.analysis.comparison import Change, Comparison
from warex.analysis.differences import Delta
from warex.analysis.intervals import Mean
from warex.report.figures import delta, p, success

_WORD = {"better": "bold green", "worse": "bold red", "cannot tell": "bold yellow"}


def render_comparison(comparison: Comparison) -> RenderableType:
    """Return the table of the conditions, and the verdict last."""
    before, after = comparison.before, comparison.after
    grid = Grid(box=box.SIMPLE_HEAD, padding=0, show_edge=False, pad_edge=False)
    for title in ("condition", "before", "after", "Δ", "adj.\np", "Δ\nrecovery", "verdict"):
        left = title in ("condition", "verdict")
        grid.add_column(title, justify="left" if left else "right")
    for change in comparison.changes:
        grid.add_row(*map(Text, _cells(change)), Text(change.verdict, _WORD[change.verdict]))
    if comparison.faulted is not None:
        found = comparison.faulted
        recovered = delta(comparison.recovered, interval=False)
        grid.add_row(
            *map(
                Text, ("all faults together", "", "", delta(found), p(_adjusted(found)), recovered)
            ),
            "",
        )
    costs = [line for change in comparison.changes if (line := _price(change))]
    return Group(
        Text(f"before  {before}"),
        Text(f"after   {after}\n"),
        grid,
        Text(),
        *(Text(line, style="dim") for line in costs),
        *(Text(f"* {line}", style="dim") for line in comparison.left_out),
        Text(),
        Text.assemble((comparison.verdict, _WORD[comparison.verdict]), f": {comparison.why}."),
    )


def _cells(change: Change) -> tuple[str, ...]:
    return (
        change.condition,
        success(change.before, interval=False),
        success(change.after, interval=False),
        delta(change.success),
        p(_adjusted(change.success)),
        delta(change.recovery, interval=False),
    )


def _adjusted(of: Delta | None) -> float | None:
    return None if of is None else of.p if of.p_holm is None else of.p_holm


def _price(change: Change) -> str:
    """Say what a trial takes more or less; empty where nothing is known."""
    known = {
        "s": change.latency_s,
        "LLM calls": change.llm_calls,
        "US dollars": change.usd,
    }
    told = [f"{_signed(mean)} {unit}" for unit, mean in known.items() if mean is not None]
    return f"{change.condition}: {', '.join(told)} a trial" if told else ""


def _signed(mean: Mean) -> str:
    digits = 4 if abs(mean.value) < 0.1 else 2
    if mean.interval is None:
        return f"{mean.value:+.{digits}f}"
    low, high = mean.interval
    return f"{mean.value:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"
