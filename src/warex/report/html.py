"""The report as one HTML file that needs nothing else and asks nobody for anything."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from warex.analysis.run import Run
from warex.analysis.summary import summarise
from warex.analysis.table import Row, Table, tabulate
from warex.analysis.trial import TrialRecord
from warex.report import figures
from warex.report.notes import cut_traces, footnotes, opening, warnings
from warex.traces.files import write_whole
from warex.traces.outcome import Counted, Unscored, Void

REPORT = "report.html"
SUMMARY = "summary.json"


def write_report(run: Run) -> Path:
    """Write ``report.html`` and ``summary.json`` into the run's folder; return the report's path.

    Raises MachineError when the disk refuses.
    """
    table = tabulate(run)
    summary = json.dumps(summarise(run, table), indent=2, ensure_ascii=False)
    write_whole(run.path / SUMMARY, (summary + "\n").encode("utf-8", "replace"))
    write_whole(run.path / REPORT, render_html(run, table).encode("utf-8", "replace"))
    return run.path / REPORT


def render_html(run: Run, table: Table | None = None) -> str:
    """Return the report as HTML. Links are relative to the run's folder."""
    table = table or tabulate(run)
    page = Environment(
        loader=PackageLoader("warex.report", "."), autoescape=True, undefined=StrictUndefined
    ).get_template("report.html")
    return page.render(
        name=run.name,
        warnings=warnings(table),
        opening=opening(table),
        columns=figures.COLUMNS,
        conditions=run.conditions,
        blocks=[
            {
                "agent": agent,
                "lines": [_Line(row) for row in table.of(agent)],
                "grid": list(_grid(run, agent)),
            }
            for agent in run.agents
        ],
        footnotes=footnotes(run, table),
        faults=list(_faults(table)),
        cut=[
            {"href": _href(run, path), "name": _relative(run, path), "why": why}
            for path, why in cut_traces(run)
        ],
        facts=list(_facts(run)),
    )


class _Line:
    """A row of the table with the second lines of its cells."""

    def __init__(self, row: Row) -> None:
        self.cells = figures.cells(row)
        value = row.success.value
        whole = self.cells[2]
        self.success, _, interval = whole.partition(" [")
        self.interval = interval.removesuffix("]").replace(", ", " to ")
        self.percent = f"{100 * (value or 0):.0f}"
        pairs = row.delta.pairs if row.delta else 0
        self.pairs = f"{pairs} pair{'' if pairs == 1 else 's'}" if pairs else ""
        self.cached = figures.tokens(row.cached_tokens) if row.cached_tokens else ""
        self.reasoning = figures.tokens(row.reasoning_tokens) if row.reasoning_tokens else ""
        self.total = figures.usd(row.total_usd) if row.total_usd else ""


@dataclass(frozen=True, slots=True)
class _Cell:
    word: str
    detail: str
    href: str


def _grid(run: Run, agent: str) -> Iterator[dict[str, object]]:
    trials = {
        (t.key.benchmark, t.key.task, t.key.repeat, t.key.condition): t
        for t in run.trials
        if t.key.agent == agent
    }
    rows = sorted({place[:3] for place in trials})
    benchmarks = {benchmark for benchmark, _, _ in rows}
    repeats = {repeat for _, _, repeat in rows}
    for benchmark, task, repeat in rows:
        name = f"{benchmark}: {task}" if len(benchmarks) > 1 else task
        here = [trials.get((benchmark, task, repeat, c)) for c in run.conditions]
        yield {
            "task": f"{name} (repeat {repeat})" if len(repeats) > 1 else name,
            "trials": [_cell(run, trial) if trial else None for trial in here],
        }


def _cell(run: Run, trial: TrialRecord) -> _Cell:
    details: list[str] = []
    match trial.outcome:
        case Counted() as counted:
            word = "success" if trial.solved else "failure"
            details.append(counted.ending.replace("_", " "))
            if 0 < counted.score < 1:
                details.append(f"score {counted.score:g}")
        case Unscored() as unscored:
            word = "unscored"
            details.append(unscored.ending.replace("_", " "))
        case Void() as void:
            word = "void"
            details.append(void.reason)
        case None:
            word = "unfinished"
    if trial.has_faults and not trial.void:
        details.append(_met(trial))
    return _Cell(word, ", ".join(details), _href(run, trial.path))


def _met(trial: TrialRecord) -> str:
    if not trial.exposed:
        return "not exposed"
    return {True: "recovered", False: "not recovered", None: "recovery not judged"}[trial.recovered]


def _faults(table: Table) -> Iterator[dict[str, object]]:
    for row in table.rows:
        if row.exposure is None:
            continue
        yield {
            "agent": row.agent,
            "condition": row.condition,
            "planned": row.ledger.planned,
            "delivered": row.ledger.delivered,
            "missed": sum(count for _, count in row.ledger.missed),
            "reasons": _reasons(row.ledger.missed),
            "left_alone": _reasons(row.ledger.left_alone),
            "recovered": figures.rate(row.recovery),
            "healed": row.healed,
            "undecided": row.undecided,
        }


def _reasons(counts: tuple[tuple[str, int], ...]) -> str:
    listed = (f"{reason.replace('_', ' ')} {count}" for reason, count in counts)
    return ", ".join(listed) or figures.UNKNOWN


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    if run.manifest:
        yield "made at", run.manifest.made_at
        yield "command", shlex.join(run.manifest.command)
        yield "seed", str(run.manifest.seed)
        yield "versions", ", ".join(f"{k} {v}" for k, v in sorted(run.manifest.versions.items()))
    yield "prices of", str(run.prices.date)


def _relative(run: Run, path: Path) -> str:
    return path.resolve().relative_to(run.path.resolve()).as_posix()


def _href(run: Run, path: Path) -> str:
    # The folders' names are percent-escaped themselves, so a link must escape the escapes.
    return quote(_relative(run, path)) + "/"
