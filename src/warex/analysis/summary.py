"""The numbers of a run for programs: ``summary.json``."""

from dataclasses import asdict
from typing import Any

from pydantic import JsonValue

from warex.analysis.intervals import Rate
from warex.analysis.run import Run
from warex.analysis.table import Delta, Row, Table
from warex.analysis.trial import TrialRecord
from warex.traces.outcome import Void

SUMMARY_VERSION = 1


def summarise(run: Run, table: Table) -> dict[str, JsonValue]:
    """Return everything the table says, and each trial's figures, as plain JSON.

    Tokens are per trial; ``usd`` is US dollars per trial; rates carry their Wilson 95 % interval.
    What is not known is null, never 0.
    """
    manifest = run.manifest
    rows: list[JsonValue] = [_row(row) for row in table.rows]
    return {
        "schema_version": SUMMARY_VERSION,
        "campaign": run.name,
        "seed": manifest.seed if manifest else None,
        "command": list(manifest.command) if manifest else None,
        "versions": dict(manifest.versions) if manifest else {},
        "prices_date": str(run.prices.date),
        "as_if": dict(priced_as_if(run)),
        "conditions": rows,
        "proxy_effect": [{"agent": a, **_delta(effect)} for a, effect in table.proxy_effect],
        "left_out": [
            {"agent": agent, "benchmark": pair[0], "task": pair[1], "repeat": pair[2]}
            for agent, pair in table.left_out
        ],
        "unfinished": table.unfinished,
        "trials": [_trial(trial, run) for trial in run.trials],
    }


def priced_as_if(run: Run) -> dict[str, str]:
    """Return the models whose cost is counted at another's price, and at whose."""
    return {
        model: other
        for trial in run.trials
        if trial.llm
        for model, other in sorted(trial.llm.as_if.items())
    }


def _row(row: Row) -> dict[str, JsonValue]:
    plain: dict[str, Any] = asdict(row)
    special: dict[str, Any] = {
        "success": _rate(row.success),
        "delta": _delta(row.delta) if row.delta else None,
        "recovery": _rate(row.recovery) if row.recovery else None,
        "exposure": _rate(row.exposure) if row.exposure else None,
        "ledger": {
            "planned": row.ledger.planned,
            "delivered": row.ledger.delivered,
            "missed": dict(row.ledger.missed),
            "left_alone": dict(row.ledger.left_alone),
        },
    }
    return plain | special


def _rate(rate: Rate) -> dict[str, JsonValue]:
    return {"hits": rate.hits, "n": rate.n, "value": rate.value, "interval": list(rate.interval)}


def _delta(delta: Delta) -> dict[str, JsonValue]:
    return {"value": delta.value, "pairs": delta.pairs}


def _trial(trial: TrialRecord, run: Run) -> dict[str, JsonValue]:
    llm = trial.llm
    return {
        "benchmark": trial.key.benchmark,
        "agent": trial.key.agent,
        "condition": trial.key.condition,
        "task": trial.key.task,
        "repeat": trial.key.repeat,
        "attempt": trial.attempt,
        "path": trial.path.resolve().relative_to(run.path.resolve()).as_posix(),
        "outcome": trial.outcome.outcome if trial.outcome else None,
        "void_reason": trial.outcome.reason if isinstance(trial.outcome, Void) else None,
        "ending": getattr(trial.outcome, "ending", None),
        "score": getattr(trial.outcome, "score", None),
        "latency_s": trial.latency_s,
        "llm_calls": len(llm.calls) if llm else None,
        "steps": llm.steps if llm else None,
        "input_tokens": llm.input_tokens if llm else None,
        "cached_tokens": llm.cached_tokens if llm else None,
        "output_tokens": llm.output_tokens if llm else None,
        "reasoning_tokens": llm.reasoning_tokens if llm else None,
        "usd": llm.usd if llm else None,
        "exposed": trial.exposed if trial.has_faults else None,
        "recovered": trial.recovered if trial.exposed else None,
        "recoveries": [
            {
                "injection": r.injection,
                "verdict": r.verdict,
                "seconds": r.seconds,
                "steps": r.steps,
                "tokens": r.tokens,
                "tries": r.tries,
            }
            for r in trial.recoveries
        ],
        "trace_cut": trial.cut,
    }
