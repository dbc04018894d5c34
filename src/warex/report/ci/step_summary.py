"""A run or a comparison in Markdown, for the summary page of a GitHub job."""

from collections.abc import Sequence
from typing import Final

from warex.analysis.output.comparison import Comparison
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.ci.cases import Case
from warex.report.tables.markup import markdown
from warex.report.tables.overview import OVERVIEW
from warex.report.text.formatting import fraction
from warex.report.text.overview import chosen_rows, summaries, warnings
from warex.text.english import count_noun

LARGEST: Final = 900_000
"""Bytes of a summary; GitHub refuses a step's summary of more than 1 MiB."""
_LARGEST_CELL: Final = 300
_MOST_CASES: Final = 50
_MARKS: Final = {
    "passed": "✅ holds",
    "failed": "❌ broken",
    "error": "❌ error",
    "skipped": "❔ cannot tell",
}


def run_summary(run: Run, table: Table, gates: Sequence[Case]) -> str:
    """Return the overview of a run and its gates."""
    lines = [f"## WAREX: {_cell(run.name)}", ""]
    for warning in warnings(run, table):
        lines += [f"> ⚠️ {_cell(warning)}", ""]
    lines += _gate_lines(gates)
    for summary in summaries(run, table):
        lines += [f"**{_cell(summary.title)}**", ""]
        lines += [f"- {_cell(label)}: {_cell(sentence)}" for label, sentence in summary.lines]
        lines.append("")
    rows, more = chosen_rows(run, table)
    if any(row.n for row in rows):
        titles = [column.title for column in OVERVIEW]
        cells = [[column.cell(row).text for column in OVERVIEW] for row in rows]
        lines += _table(titles, cells, words=sum(column.is_text for column in OVERVIEW))
    if more:
        lines += [f"{count_noun(more, 'more row is', 'more rows are')} in the report.", ""]
    return _bounded(lines)


def comparison_summary(comparisons: Sequence[Comparison], gates: Sequence[Case]) -> str:
    """Return comparisons and their gates."""
    lines = ["## WAREX: comparison", ""]
    lines += _gate_lines(gates)
    lines += _table(
        ("before", "after", "on these tasks", "on tasks like these"),
        [
            (
                str(each.before),
                str(each.after),
                f"{each.verdict}: {each.why}",
                f"{each.verdict_like_these}: {each.why_like_these}",
            )
            for each in comparisons
        ],
        words=4,
    )
    lines += _table(
        ("agent", "condition", "before", "after", "verdict"),
        [
            (
                each.after.agent,
                change.condition,
                fraction(change.before),
                fraction(change.after),
                change.verdict,
            )
            for each in comparisons
            for change in each.changes
        ],
        words=2,
    )
    return _bounded(lines)


def _gate_lines(gates: Sequence[Case]) -> list[str]:
    shown = [(_MARKS[gate.end], gate.name, gate.message) for gate in gates[:_MOST_CASES]]
    return _table(("", "gate", "why"), shown, words=3) if shown else []


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> list[str]:
    """Return a table, of which the first ``words`` columns are text."""
    rule = ["---"] * words + ["---:"] * (len(heads) - words)
    lines = [[_cell(head) for head in heads], rule, *([*map(_cell, row)] for row in rows)]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _cell(words: str) -> str:
    cut = words if len(words) <= _LARGEST_CELL else f"{words[:_LARGEST_CELL]}…"
    return markdown(cut)


def _bounded(lines: Sequence[str]) -> str:
    """Return the lines that a summary has room for."""
    size, bounded = 0, list[str]()
    for line in lines:
        size += len(line.encode()) + 1
        if size > LARGEST:
            bounded += ["", "The rest is in the report.", ""]
            break
        bounded.append(line)
    return "\n".join(bounded) + "\n"
