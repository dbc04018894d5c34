"""Figures as plain values: what ``summary.json``, ``warex compare --json`` and the frames hold."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from pydantic import JsonValue

from warex.analysis.injections import Ledger
from warex.analysis.intervals import Rate
from warex.analysis.run import Run
from warex.analysis.trial import TrialRecord
from warex.traces.outcome import Void


def plain(value: object) -> JsonValue:
    """Return a figure as JSON, whatever it is made of.

    Raises TypeError for what is no figure.
    """
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
            return [plain(part) for part in value]
        case Mapping():
            return {str(name): plain(part) for name, part in value.items()}
        case _ if is_dataclass(value):
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{value!r} is no figure")


def key_of(trial: TrialRecord) -> dict[str, JsonValue]:
    """Return what an attempt is called by."""
    key = trial.key
    return {
        "benchmark": key.benchmark,
        "agent": key.agent,
        "condition": key.condition,
        "task": key.task,
        "repeat": key.repeat,
        "attempt": trial.attempt,
    }


def figures_of(trial: TrialRecord, run: Run) -> dict[str, JsonValue]:
    """Return what an attempt came to, its key apart; what is not known is None, never 0."""
    llm, outcome, ways = trial.llm, trial.outcome, trial.behaviour
    return {
        "path": trial.path.resolve().relative_to(run.path.resolve()).as_posix(),
        "outcome": outcome.outcome if outcome else None,
        "void_reason": outcome.reason if isinstance(outcome, Void) else None,
        "ending": getattr(outcome, "ending", None),
        "score": getattr(outcome, "score", None),
        "latency_s": trial.latency_s,
        "llm_calls": len(llm.calls) if llm else None,
        "llm_unread": len(trial.llm_unread) if trial.watched else None,
        "llm_unread_first": ": ".join(trial.llm_unread[0]) if trial.llm_unread else None,
        "never_armed": trial.never_armed,
        "first_token_s": llm.first_token_s if llm else None,
        "tokens_per_s": llm.tokens_per_s if llm else None,
        "steps": llm.steps if llm else None,
        "input_tokens": llm.input_tokens if llm else None,
        "cached_tokens": llm.cached_tokens if llm else None,
        "cache_write_tokens": llm.cache_write_tokens if llm else None,
        "output_tokens": llm.output_tokens if llm else None,
        "reasoning_tokens": llm.reasoning_tokens if llm else None,
        "usd": llm.usd if llm else None,
        "spent_usd": llm.spent_usd if llm else None,
        "replayed_calls": llm.replayed if llm else None,
        "reloads": ways.reloads if llm else None,
        "duplicated_writes": ways.duplicated_writes if trial.watched else None,
        "false_success": trial.false_success,
        "premature_stop": ways.premature_stop(outcome) if llm and trial.exposed else None,
        "fruitless": ways.fruitless(outcome) if llm and trial.exposed else None,
        "site": trial.site,
        "exposed": trial.exposed if trial.has_faults else None,
        "detected": trial.detected if trial.exposed else None,
        "recovered": trial.recovered if trial.exposed else None,
        "trace_cut": trial.cut,
    }
