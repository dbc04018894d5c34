"""The comparison of two agents for the terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.output.comparison import Comparison, ConditionChange
from warex.report.terminal.grid import Grid, Heading
from warex.report.terminal.run_report import footnote_lines
from warex.report.text.footnotes import scripted
from warex.report.text.formatting import delta, fraction, p, signed_mean

_WORD = {"better": "bold green", "worse": "bold red", "cannot tell": "bold yellow"}

_HEADS = (
    Heading("condition", is_text=True),
    *map(Heading, ("before", "after", "Δ", "adj. p these", "adj. p like these", "Δ recovery")),
    Heading("verdict", is_text=True),
)
_VERDICT = len(_HEADS) - 1


def render_comparison(comparison: Comparison) -> RenderableType:
    """Return the table of the conditions, with the verdict at the end."""
    before, after = comparison.before, comparison.after
    rows = [(*_cells(change), change.verdict) for change in comparison.changes]
    styles = [(n, _VERDICT, _WORD[change.verdict]) for n, change in enumerate(comparison.changes)]
    if comparison.faulted is not None:
        faulted, recovered = comparison.faulted, delta(comparison.recovered, interval=False)
        rows.append(
            (
                *("all faults together", "", "", delta(faulted)),
                *(p(faulted.adjusted_p_these), p(faulted.adjusted_p), recovered, ""),
            )
        )
    grid = Grid(_HEADS, tuple(rows), styles=tuple(styles))
    costs = [line for change in comparison.changes if (line := _price(change))]
    notes = [line for side in (before, after) for line in scripted(side.run, (side.agent,))]
    notes = [*dict.fromkeys(notes), *comparison.left_out]
    return Group(
        Text(f"before  {before}"),
        Text(f"after   {after}\n"),
        grid,
        Text(),
        *(Text(line, style="dim") for line in costs),
        *footnote_lines(notes),
        Text(),
        Text(f"tasks like these: {comparison.verdict_like_these}: {comparison.why_like_these}."),
        Text.assemble((comparison.verdict, _WORD[comparison.verdict]), f": {comparison.why}."),
    )


def _cells(change: ConditionChange) -> tuple[str, ...]:
    return (
        change.condition,
        fraction(change.before),
        fraction(change.after),
        delta(change.success),
        p(change.success.adjusted_p_these if change.success else None),
        p(change.success.adjusted_p if change.success else None),
        delta(change.recovery, interval=False),
    )


def _price(change: ConditionChange) -> str:
    """Say how the effort of a trial changes; empty if unknown."""
    known = (
        ("s", change.latency_s, 2),
        ("LLM calls", change.llm_calls, 2),
        ("US dollars (as if paid)" if change.as_if else "US dollars", change.cost_usd, 4),
    )
    parts = [
        f"{signed_mean(mean, digits)} {unit}" for unit, mean, digits in known if mean is not None
    ]
    return f"{change.condition}: {', '.join(parts)} a trial" if parts else ""
