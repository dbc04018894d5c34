"""A run as Polars frames, for analyses beyond the report.

    run = warex.load_run("runs/paper")
    run.trials.group_by("condition").agg(pl.col("solved").mean())

Columns are described in docs/reference/frames.md. Unknown values are null, never 0.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from warex.analysis.metrics.metric import columns_of, values_of
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.metrics.trial import TRIAL_METRICS
from warex.analysis.output.json_values import key_fields, trial_fields
from warex.analysis.run import load as runs
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Contrast, Delta
from warex.analysis.steps.model_steps import steps
from warex.analysis.table.tabulate import tabulate
from warex.analysis.trial.record import TrialRecord, read_attempt
from warex.extras import require_extra
from warex.files.reading import path_exists
from warex.text.arguments import checks_arguments, made_by, read_path
from warex.traces.events import RequestSeen, ResponseSeen
from warex.traces.paths import EVENTS
from warex.traces.reader import read_trace

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

type Schema = Mapping[str, type]
"""The type of each column, in order: str, int, float or bool."""
type FrameRow = Mapping[str, object]


def _columns(kind: type, *names: str) -> Schema:
    return dict.fromkeys(names, kind)


KEY: Schema = {
    **_columns(str, "benchmark", "agent", "condition", "task"),
    **_columns(int, "repeat", "attempt"),
}
"""The first columns of all frames except ``conditions``."""

TRIALS: Schema = {
    **KEY,
    "final_attempt": bool,
    **{metric.key: metric.kind for metric in TRIAL_METRICS},
    "path": str,
}

INJECTIONS: Schema = {
    **KEY,
    **_columns(str, "injection", "rule", "kind", "exchange", "url"),
    "ordinal": int,
    **_columns(str, "fate", "reason"),
    **_columns(float, "planned_t", "waited_s"),
    "client_left": bool,
    "repeat_of": str,
}

RECOVERIES: Schema = {
    **KEY,
    **_columns(str, "injection", "verdict", "confidence", "why", "disagreement"),
    "seconds": float,
    **_columns(int, "steps", "tokens", "tries"),
}

LLM_CALLS: Schema = {
    **KEY,
    **_columns(int, "seq", "step"),
    "model": str,
    **_columns(int, "input_tokens", "cached_tokens", "cache_write_tokens"),
    **_columns(int, "output_tokens", "reasoning_tokens"),
    "usage": str,
    **_columns(float, "latency_s", "first_token_s", "tokens_per_s", "original_latency_s"),
    "replayed": bool,
    "cost_usd": float,
    **_columns(str, "as_if", "error"),
}

REQUESTS: Schema = {
    **KEY,
    "seq": int,
    "t": float,
    **_columns(str, "exchange", "method", "url", "resource"),
    "top_level": bool,
    "body": int,
    **_columns(str, "operation", "repeat_of"),
    "status": int,
    "by": str,
    "size": int,
    "seconds": float,
    "error": str,
}

STEPS: Schema = {
    **KEY,
    **_columns(int, "seq", "step"),
    "t": float,
    **_columns(str, "model", "page", "actions", "answer"),
    **_columns(int, "prompt_characters", "faults", "input_tokens", "output_tokens"),
    **_columns(float, "cost_usd", "latency_s"),
    "error": str,
}

_VERDICT: Schema = {
    **_columns(str, "verdict", "confidence"),
    "seconds": float,
    **_columns(int, "steps", "tokens", "tries"),
}
FAULTS: Schema = {**INJECTIONS, **_VERDICT}

CONDITIONS: Schema = {
    **_columns(str, "agent", "condition", "scenario", "defence"),
    "control": bool,
    "dose_axis": str,
    "dose": float,
    "scheduled": int,
    **{name: kind for metric in METRICS for name, kind in metric.columns.items()},
}

CONTRASTS: Schema = {
    **_columns(str, "condition", "figure", "first", "second"),
    **columns_of("first_rate", Rate),
    **columns_of("second_rate", Rate),
    "relative_change": float,
    "p_fisher": float,
    **columns_of("paired", Delta),
    "p_holm": float,
}


_FRAMES: Final = (
    *("trials", "injections", "recoveries", "llm_calls", "conditions", "contrasts"),
    *("requests", "exchanges", "steps", "faults"),
)


@made_by("warex.load_run(…)")
@dataclass(frozen=True, repr=False)
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
    contrasts: "pl.DataFrame"
    """One line for each two agents under one condition that both ran."""

    @cached_property
    def requests(self) -> "pl.DataFrame":
        """One line for each request; reads the traces again on first access."""
        return _frame(REQUESTS, (line for a in self.run.attempts for line in _requests(a)))

    @property
    def exchanges(self) -> "pl.DataFrame":
        """``requests``, which have their answers, under the name that exports use."""
        return self.requests

    @cached_property
    def steps(self) -> "pl.DataFrame":
        """One line for each call to the model, with the page before it and the actions after it.

        Reads the traces again on first access.
        """
        return _frame(STEPS, (line for a in self.run.attempts for line in _steps(a)))

    @cached_property
    def faults(self) -> "pl.DataFrame":
        """One line for each planned fault, as in ``injections``, with its verdict."""
        return _frame(FAULTS, (line for a in self.run.attempts for line in _faults(a)))

    def __repr__(self) -> str:
        """Name the frames that are in memory, with their shapes."""
        shapes = (
            f"{name} {frame.height}x{frame.width}"
            for name in _FRAMES
            if (frame := vars(self).get(name)) is not None
        )
        return f"<warex.Frames of {self.run.path}: {', '.join(shapes)}>"

    def to_pandas(self) -> "dict[str, pd.DataFrame]":
        """Return each frame by its name as a frame of pandas; reads the traces again.

        Raises MachineError where pandas or pyarrow is not installed.
        """
        require_extra("pandas", "Frames.to_pandas", "pandas", "pyarrow")
        return {name: getattr(self, name).to_pandas() for name in _FRAMES}


@checks_arguments
def load_run(path: str | os.PathLike[str]) -> Frames:
    """Read a run's folder into frames.

    Raises TraceError as ``warex report`` does, MachineError where Polars is not installed.
    """
    require_extra("frames", "warex.load_run", "polars")
    return frames_of(runs.load_run(read_path("load_run(", path)))


def frames_of(run: Run) -> Frames:
    """Return a run's frames; Polars is installed."""
    counted = {(trial.key, trial.attempt) for trial in run.trials}
    table = tabulate(run)
    return Frames(
        run=run,
        trials=_frame(
            TRIALS,
            (
                {
                    **key_fields(a),
                    **trial_fields(a, run),
                    "final_attempt": (a.key, a.attempt) in counted,
                }
                for a in run.attempts
            ),
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
        conditions=_frame(CONDITIONS, map(_condition, table.rows)),
        contrasts=_frame(CONTRASTS, map(_contrast, table.contrasts)),
    )


def _frame(schema: Schema, lines: Iterable[FrameRow]) -> "pl.DataFrame":
    import polars as pl

    types = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    columns: dict[str, list[object]] = {name: [] for name in schema}
    for line in lines:
        for name, column in columns.items():
            column.append(_storable(line[name]))
    return pl.DataFrame(columns, schema={name: types[kind] for name, kind in schema.items()})


def _storable(value: object) -> object:
    """Return a value for a frame, which has no place for a lone surrogate of a hostile name."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def _line(attempt: TrialRecord, schema: Schema, of: object, **values: object) -> FrameRow:
    """Return a line from the attributes of an object that are named as the columns."""
    names = [name for name in schema if name not in KEY and name not in values]
    return key_fields(attempt) | {name: getattr(of, name) for name in names} | values


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


def _steps(attempt: TrialRecord) -> Iterator[FrameRow]:
    costs = {call.seq: call for call in attempt.llm.calls} if attempt.llm else {}
    for step in steps(read_attempt(attempt.path).entries):
        call = costs.get(step.seq)
        names = ("input_tokens", "output_tokens", "cost_usd", "latency_s")
        yield key_fields(attempt) | {
            "seq": step.seq,
            "step": step.number,
            "t": step.t,
            "model": step.model,
            "page": step.page or None,
            "actions": "\n".join(step.actions) or None,
            "answer": step.answer,
            "prompt_characters": step.characters,
            "faults": len(step.faults),
            **{name: getattr(call, name, None) for name in names},
            "error": step.error or None,
        }


def _faults(attempt: TrialRecord) -> Iterator[FrameRow]:
    verdicts = {recovery.injection: recovery for recovery in attempt.recoveries}
    for injection in attempt.injections:
        verdict = verdicts.get(injection.id)
        yield _line(
            attempt,
            INJECTIONS,
            injection,
            injection=injection.id,
            reason=injection.reason or None,
            **{name: getattr(verdict, name, None) for name in _VERDICT},
        )


def _condition(row: ConditionRow) -> FrameRow:
    names = ("agent", "condition", "scenario", "defence", "control", "scheduled")
    line: dict[str, object] = {name: getattr(row, name) for name in names}
    line["dose_axis"], line["dose"] = (row.dose.axis, row.dose.value) if row.dose else (None, None)
    for metric in METRICS:
        line |= zip(metric.columns, metric.values(row), strict=True)
    return line


def _contrast(of: Contrast) -> FrameRow:
    values = (
        *(of.condition, of.figure, *of.agents),
        *(value for rate in of.rates for value in values_of(rate, Rate)),
        *(of.relative_change, of.p_fisher, *values_of(of.paired, Delta), of.p_holm),
    )
    return dict(zip(CONTRASTS, values, strict=True))
