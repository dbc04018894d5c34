"""A run as Polars frames, for analyses beyond the report.

    run = warex.load_run("runs/paper")
    run.trials.group_by("condition").agg(pl.col("solved").mean())

Columns are described in docs/reference/frames.md. Unknown values are null, never 0.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.metrics.trial import TRIAL_METRICS
from warex.analysis.output.json_values import key_fields, trial_fields
from warex.analysis.run import load as runs
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import tabulate
from warex.analysis.trial.record import TrialRecord
from warex.extras import require_extra
from warex.files.reading import path_exists
from warex.traces.events import RequestSeen, ResponseSeen
from warex.traces.paths import EVENTS
from warex.traces.reader import read_trace

if TYPE_CHECKING:
    import polars as pl

type Kind = Literal["text", "whole", "real", "flag"]
type Schema = Mapping[str, Kind]
type FrameRow = Mapping[str, object]

_TEXT: Kind = "text"
_WHOLE: Kind = "whole"
_REAL: Kind = "real"
_FLAG: Kind = "flag"

KEY: Schema = {
    "benchmark": _TEXT,
    "agent": _TEXT,
    "condition": _TEXT,
    "task": _TEXT,
    "repeat": _WHOLE,
    "attempt": _WHOLE,
}
"""The first columns of all frames except ``conditions``."""

_TYPES = {str: _TEXT, int: _WHOLE, float: _REAL, bool: _FLAG}

TRIALS: Schema = {
    **KEY,
    "stands": _FLAG,
    **{metric.key: _TYPES[metric.kind] for metric in TRIAL_METRICS},
    "path": _TEXT,
}

INJECTIONS: Schema = {
    **KEY,
    "injection": _TEXT,
    "rule": _TEXT,
    "kind": _TEXT,
    "exchange": _TEXT,
    "url": _TEXT,
    "ordinal": _WHOLE,
    "fate": _TEXT,
    "reason": _TEXT,
    "planned_t": _REAL,
    "waited_s": _REAL,
    "client_left": _FLAG,
    "repeat_of": _TEXT,
}

RECOVERIES: Schema = {
    **KEY,
    "injection": _TEXT,
    "verdict": _TEXT,
    "why": _TEXT,
    "disagreement": _TEXT,
    "seconds": _REAL,
    "steps": _WHOLE,
    "tokens": _WHOLE,
    "tries": _WHOLE,
}

LLM_CALLS: Schema = {
    **KEY,
    "seq": _WHOLE,
    "step": _WHOLE,
    "model": _TEXT,
    "input_tokens": _WHOLE,
    "cached_tokens": _WHOLE,
    "cache_write_tokens": _WHOLE,
    "output_tokens": _WHOLE,
    "reasoning_tokens": _WHOLE,
    "usage": _TEXT,
    "latency_s": _REAL,
    "first_token_s": _REAL,
    "tokens_per_s": _REAL,
    "original_latency_s": _REAL,
    "replayed": _FLAG,
    "cost_usd": _REAL,
    "as_if": _TEXT,
    "error": _TEXT,
}

REQUESTS: Schema = {
    **KEY,
    "seq": _WHOLE,
    "t": _REAL,
    "exchange": _TEXT,
    "method": _TEXT,
    "url": _TEXT,
    "resource": _TEXT,
    "top_level": _FLAG,
    "body": _WHOLE,
    "operation": _TEXT,
    "repeat_of": _TEXT,
    "status": _WHOLE,
    "by": _TEXT,
    "size": _WHOLE,
    "seconds": _REAL,
    "error": _TEXT,
}

CONDITIONS: Schema = {
    "agent": _TEXT,
    "condition": _TEXT,
    "scenario": _TEXT,
    "defence": _TEXT,
    "control": _FLAG,
    "dose_axis": _TEXT,
    "dose": _REAL,
    "scheduled": _WHOLE,
    **{name: _TYPES[kind] for metric in METRICS for name, kind in metric.columns.items()},
}


@dataclass(frozen=True)
class Frames:
    """A run in frames."""

    run: Run
    trials: "pl.DataFrame"
    """One line for each attempt."""
    injections: "pl.DataFrame"
    """One line for each planned fault."""
    recoveries: "pl.DataFrame"
    """One line for each delivered fault with a verdict."""
    llm_calls: "pl.DataFrame"
    conditions: "pl.DataFrame"
    """One line for each agent and condition: the report's table."""

    @cached_property
    def requests(self) -> "pl.DataFrame":
        """One line for each request; reads the traces again on first access."""
        return _frame(REQUESTS, (line for a in self.run.attempts for line in _requests(a)))


def load_run(path: str | os.PathLike[str]) -> Frames:
    """Read a run's folder into frames.

    Raises TraceError as ``warex report`` does, MachineError where Polars is not installed.
    """
    require_extra("frames", "warex.load_run", "polars")
    run = runs.load_run(Path(path))
    standing = {(trial.key, trial.attempt) for trial in run.trials}
    return Frames(
        run=run,
        trials=_frame(
            TRIALS, (_trial(a, run, (a.key, a.attempt) in standing) for a in run.attempts)
        ),
        injections=_frame(
            INJECTIONS,
            (
                _line(a, INJECTIONS, i, injection=i.id, reason=i.reason or None)
                for a in run.attempts
                for i in a.injections
            ),
        ),
        recoveries=_frame(
            RECOVERIES,
            (
                _line(a, RECOVERIES, r, disagreement=r.disagreement or None)
                for a in run.attempts
                for r in a.recoveries
            ),
        ),
        llm_calls=_frame(
            LLM_CALLS,
            (
                _line(a, LLM_CALLS, call)
                for a in run.attempts
                for call in (a.llm.calls if a.llm else ())
            ),
        ),
        conditions=_frame(CONDITIONS, map(_condition, tabulate(run).rows)),
    )


def _frame(schema: Schema, lines: Iterable[FrameRow]) -> "pl.DataFrame":
    import polars as pl

    types = {"text": pl.String, "whole": pl.Int64, "real": pl.Float64, "flag": pl.Boolean}
    columns: dict[str, list[object]] = {name: [] for name in schema}
    for line in lines:
        for name, column in columns.items():
            column.append(line[name])
    return pl.DataFrame(columns, schema={name: types[kind] for name, kind in schema.items()})


def _line(attempt: TrialRecord, schema: Schema, of: object, **told: object) -> FrameRow:
    """Return a line from the attributes of an object that are named as the columns."""
    names = [name for name in schema if name not in KEY and name not in told]
    return key_fields(attempt) | {name: getattr(of, name) for name in names} | told


def _trial(trial: TrialRecord, run: Run, stands: bool) -> FrameRow:
    return {**key_fields(trial), **trial_fields(trial, run), "stands": stands}


def _requests(attempt: TrialRecord) -> Iterator[FrameRow]:
    if not path_exists(attempt.path / EVENTS):
        return
    trace = read_trace(attempt.path / EVENTS, lean=True)
    answers = {answer.exchange: answer for answer in trace.events(ResponseSeen)}
    for entry in trace.of(RequestSeen):
        request = entry.event
        assert isinstance(request, RequestSeen)
        answer = answers.get(request.exchange)
        yield key_fields(attempt) | {
            "seq": entry.seq,
            "t": entry.t,
            "exchange": request.exchange,
            "method": request.method,
            "url": request.url,
            "resource": answer.resource if answer else request.resource,
            "top_level": request.top_level,
            "body": request.body or None,
            "operation": request.operation or None,
            "repeat_of": request.repeat_of,
            "seconds": answer.timings.total if answer else None,
            **{name: getattr(answer, name, None) for name in ("status", "by", "size", "error")},
        }


def _condition(row: ConditionRow) -> FrameRow:
    names = ("agent", "condition", "scenario", "defence", "control", "scheduled")
    line: dict[str, object] = {name: getattr(row, name) for name in names}
    line["dose_axis"], line["dose"] = (row.dose.axis, row.dose.value) if row.dose else (None, None)
    for metric in METRICS:
        line |= zip(metric.columns, metric.values(row), strict=True)
    return line
