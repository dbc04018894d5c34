"""The numbers of a run for programs: ``summary.json``."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from pydantic import JsonValue

from warex.analysis.differences import NoiseFloor, Power
from warex.analysis.injections import Ledger
from warex.analysis.intervals import Mean, Rate
from warex.analysis.run import Run
from warex.analysis.table import Delta, Row, Table
from warex.analysis.trial import TrialRecord
from warex.analysis.verdict import verdict
from warex.traces.outcome import Void

SUMMARY_VERSION = 2


def summarise(run: Run, table: Table) -> dict[str, JsonValue]:
    """Return everything the table says, and each trial's figures, as plain JSON.

    Tokens are per trial; ``usd`` is US dollars per trial; every interval is a 95 % one. What is not
    known is null, never 0.
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
        "verdict": list(verdict(run, table)),
        "conditions": rows,
        "proxy_effect": _by_agent(table.proxy_effect),
        "proxy_latency": _by_agent(table.proxy_latency),
        "noise_floor": _by_agent(table.noise_floor),
        "power": _by_agent(table.power),
        "contrasts": [_plain(contrast) for contrast in table.contrasts],
        "defences": [_plain(effect) for effect in table.defences],
        "doses": [_plain(series) for series in table.doses],
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
    told = {field.name: _plain(getattr(row, field.name)) for field in fields(row)}
    return told | {"pass_k": {str(k): share for k, share in row.pass_k}}


def _by_agent(
    found: tuple[tuple[str, Delta | Mean | NoiseFloor | Power], ...],
) -> list[JsonValue]:
    return [
        {"agent": agent, **{f.name: _plain(getattr(one, f.name)) for f in fields(one)}}
        for agent, one in found
    ]


def _plain(value: object) -> JsonValue:
    """Return a figure as JSON, whatever it is made of."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Rate():
            interval: list[JsonValue] = [*value.interval]
            return {"hits": value.hits, "n": value.n, "value": value.value, "interval": interval}
        case Ledger():
            return {
                "planned": value.planned,
                "delivered": value.delivered,
                "missed": dict(value.missed),
                "left_alone": dict(value.left_alone),
            }
        case tuple() | list():
            return [_plain(part) for part in value]
        case Mapping():
            return {str(name): _plain(part) for name, part in value.items()}
        case _ if is_dataclass(value):
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{value!r} is no figure")


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
        "spent_usd": llm.spent_usd if llm else None,
        "replayed_calls": llm.replayed if llm else None,
        "reloads": trial.behaviour.reloads if llm else None,
        "duplicated_writes": trial.behaviour.duplicated_writes if llm else None,
        "premature_stop": trial.behaviour.premature_stop(trial.outcome) if trial.exposed else None,
        "fruitless": trial.behaviour.fruitless(trial.outcome) if trial.exposed else None,
        "site": trial.site,
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
                "disagreement": r.disagreement or None,
            }
            for r in trial.recoveries
        ],
        "trace_cut": trial.cut,
    }
