"""The paper's Table 1 (its Appendix A), over one run or several: a block for each benchmark.

Rows, columns and units are the paper's. Δ is relative, as there: -70 means that 70 % of the success
under ``clean`` is lost. A condition that the paper does not have keeps its own name.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from warex.analysis.metrics.metric import Metric
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean
from warex.analysis.table.tabulate import Table, TabulatedRun
from warex.report.tables.columns import Cell, Column, number_cell
from warex.report.tables.sheet import Sheet, TableBlock
from warex.report.text.formatting import UNKNOWN, points
from warex.traces import CLEAN, NO_PROXY

PAPER_FAULT_NAMES = {
    "paper/network-error": "Network Error",
    "paper/server-error": "Server Error",
    "paper/javascript": "JavaScript Delay",
}
"""The paper's names of these scenarios."""
PAPER_DEFENCE = "refresh"
"""The defence of its Appendix C."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the table: a row, with what identifies it."""

    run: Path
    benchmark: str
    fault: str
    """The paper's name of the condition, where it is one of the paper's."""
    row: ConditionRow


def paper_sheet(runs: Sequence[TabulatedRun]) -> Sheet:
    """Return the runs' figures in the layout of the paper's Table 1."""
    blocks = [block for run, table in runs for block in _blocks(run, table)]
    names = [block.agent for block, _ in blocks]
    return Sheet(
        "paper",
        "Success and effort in the layout of the paper's Table 1",
        "Δ is the relative change of success against clean. Means are per trial, seconds for"
        " latency.",
        _COLUMNS,
        tuple(
            # Several runs of an agent on one benchmark are distinguished by their folders.
            block
            if names.count(block.agent) == 1
            else TableBlock(f"{block.agent} ({run})", block.lines)
            for block, run in blocks
        ),
        stacked=True,
    )


def _blocks(run: Run, table: Table) -> Iterator[tuple[TableBlock, str]]:
    for agent in run.agents:
        benchmark = _benchmark(run, agent)
        rows = _in_order([row for row in table.of(agent) if row.n])
        names = [_fault(row) for row in rows]
        lines = [
            _Line(run.path, benchmark, name if names.count(name) == 1 else row.condition, row)
            for row, name in zip(rows, names, strict=True)
        ]
        cells = (tuple(column.cell(line) for column in _COLUMNS) for line in lines)
        yield TableBlock(f"{benchmark}, {agent}", tuple(cells)), str(run.path)


def _benchmark(run: Run, agent: str) -> str:
    benchmarks = {trial.key.benchmark for trial in run.trials if trial.key.agent == agent}
    return ", ".join(sorted(benchmarks)) or UNKNOWN


def _in_order(rows: Sequence[ConditionRow]) -> list[ConditionRow]:
    """Return the rows; one with a defence follows the same condition without it."""
    groups = [_varied(row) for row in rows]
    return sorted(rows, key=lambda row: (groups.index(_varied(row)), row.defence is not None))


def _varied(row: ConditionRow) -> object:
    """Return what the condition varies, without its defence."""
    if row.scenario is None:
        return row.condition
    return row.scenario, (row.dose.axis, row.dose.value) if row.dose else None


def _fault(row: ConditionRow) -> str:
    """Return the paper's name of the condition, or else its own."""
    if row.condition == NO_PROXY:
        return "No Proxy"
    if row.condition == CLEAN:
        return "Proxy - No Fault"
    fault = PAPER_FAULT_NAMES.get(row.scenario or "")
    if fault is None or row.dose is not None or row.defence not in (None, PAPER_DEFENCE):
        return row.condition
    return f"{fault} - Fixed" if row.defence else fault


def _success_cell(of: _Line) -> Cell:
    share, n = of.row.success.value, of.row.success.n
    return Cell(UNKNOWN, (None, None)) if share is None else Cell(f"{share:.3f}", (share, n))


def _interval_cell(of: _Line) -> Cell:
    ratio = of.row.r_fault
    if ratio is None or ratio.interval is None:
        return Cell(UNKNOWN, (None, None))
    low, high = (end - 1 for end in ratio.interval)
    return Cell(f"[{points(low)}, {points(high)}]", (low, high))


def _mean_column(metric: Metric[Mean], write: Callable[[float], str]) -> Column:
    """Return a mean's column without its interval, as in the paper."""

    def cell(of: _Line) -> Cell:
        mean = metric.of(of.row)
        return number_cell(mean.value if mean else None, write)

    return Column(_title(metric), metric.definition, (metric.key,), cell)


def _title(metric: Metric[Any]) -> str:
    return metric.label + {"higher": " ↑", "lower": " ↓", None: ""}[metric.better]


def _thousands(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else f"{tokens:.1f}"


_COLUMNS: Final[tuple[Column, ...]] = (
    Column(
        "benchmark / fault",
        "In the paper's words where the condition is one of the paper's.",
        ("run", "benchmark", "agent", "condition", "fault"),
        lambda it: Cell(
            it.fault, (str(it.run), it.benchmark, it.row.agent, it.row.condition, it.fault)
        ),
        is_text=True,
    ),
    Column(
        _title(ConditionRow.success),
        ConditionRow.success.definition,
        ("success", "success_n"),
        _success_cell,
    ),
    _mean_column(ConditionRow.latency_s, "{:.2f}".format),
    _mean_column(ConditionRow.input_tokens, _thousands),
    _mean_column(ConditionRow.output_tokens, _thousands),
    _mean_column(ConditionRow.steps, "{:.1f}".format),
    Column(
        "Δ succ. (%)",
        "Success over that of clean, minus 1, in percent.",
        ("relative_change",),
        lambda it: number_cell(it.row.r_fault and it.row.r_fault.value - 1, points),
    ),
    Column(
        "95 % interval",
        "Of Δ, over tasks; the paper gives none.",
        ("relative_change_low", "relative_change_high"),
        _interval_cell,
    ),
)
