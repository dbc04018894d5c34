"""The paper's Table 1 (its Appendix A), over one run or several: a block for each benchmark.

Rows, columns and units are the paper's. Δ is relative, as there: -70 means that 70 % of the success
under ``clean`` is lost. A condition that the paper does not have keeps its own name.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from warex.analysis.metrics.metric import Metric
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean
from warex.analysis.table.tabulate import Table, TabulatedRun
from warex.report.tables.columns import Cell, Column, number_cell
from warex.report.tables.sheet import Sheet, TableBlock
from warex.report.text.formatting import UNKNOWN
from warex.traces import CLEAN, NO_PROXY

PAPER_FAULT_NAMES = {
    "paper/network-error": "Network Error",
    "paper/server-error": "Server Error",
    "paper/javascript": "JavaScript Delay",
}
"""The paper's names of these scenarios."""
PAPER_DEFENCE = "refresh"
"""The defence of its Appendix C."""

_ARROWS = {"higher": " ↑", "lower": " ↓", None: ""}


def _column(metric: Metric[Any]) -> Column:
    """Return a metric's column without the interval, as in the paper."""
    more = ("_low", "_high", "_median")
    keys = tuple(key for key in metric.columns if not key.endswith(more))
    return Column(f"{metric.label}{_ARROWS[metric.better]}", metric.definition, keys)


_COLUMNS = (
    Column(
        "benchmark / fault",
        "In the paper's words where the condition is one of the paper's.",
        ("run", "benchmark", "agent", "condition", "fault"),
        True,
    ),
    *(
        _column(metric)
        for metric in (
            ConditionRow.success,
            ConditionRow.latency_s,
            ConditionRow.input_tokens,
            ConditionRow.output_tokens,
            ConditionRow.steps,
        )
    ),
    Column("Δ succ. (%)", "Success over that of clean, minus 1, in percent.", ("relative_change",)),
    Column(
        "95 % interval",
        "Of Δ, over tasks; the paper gives none.",
        ("relative_change_low", "relative_change_high"),
    ),
)


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
        lines = []
        for row, name in zip(rows, names, strict=True):
            fault = name if names.count(name) == 1 else row.condition
            first = Cell(fault, (str(run.path), benchmark, agent, row.condition, fault))
            lines.append((first, *_figures(row)))
        yield TableBlock(f"{benchmark}, {agent}", tuple(lines)), str(run.path)


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


def _figures(row: ConditionRow) -> Iterator[Cell]:
    share = row.success.value
    yield Cell(
        UNKNOWN if share is None else f"{share:.3f}",
        (share, row.success.n if share is not None else None),
    )
    yield number_cell(_value(row.latency_s), "{:.2f}".format)
    yield number_cell(_value(row.input_tokens), _thousands)
    yield number_cell(_value(row.output_tokens), _thousands)
    yield number_cell(_value(row.steps), "{:.1f}".format)
    ratio = row.r_fault
    yield number_cell(None if ratio is None else ratio.value - 1, _percent)
    low, high = (ratio.interval if ratio else None) or (None, None)
    if low is None or high is None:
        yield Cell(UNKNOWN, (None, None))
    else:
        yield Cell(f"[{_percent(low - 1)}, {_percent(high - 1)}]", (low - 1, high - 1))


def _value(mean: Mean | None) -> float | None:
    return mean.value if mean else None


def _thousands(tokens: float) -> str:
    return f"{tokens / 1000:.1f}k" if tokens >= 1000 else f"{tokens:.1f}"


def _percent(share: float) -> str:
    # Rounded to an integer first, to avoid -0.
    return f"{round(100 * share):+d}"
