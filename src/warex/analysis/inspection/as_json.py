"""One trial as JSON, for ``warex inspect --json``."""

from dataclasses import asdict

from pydantic import JsonValue

from warex.analysis.inspection.tasks import TaskUse
from warex.analysis.inspection.timeline import Inspection
from warex.analysis.recovery import Recovery
from warex.analysis.trial.injections import InjectionRecord
from warex.analysis.trial.usage import LlmUsage

INSPECTION_VERSION = 2


def inspection_json(inspection: Inspection) -> dict[str, JsonValue]:
    """Return the trial and its timeline as plain JSON.

    ``seq`` and keys that end in ``_seq`` are lines of the trace. Times are in seconds, ``cost_usd``
    in US dollars. Unknown values are null, never 0.
    """
    trial = inspection.trial
    verdicts = {recovery.fault_seq: recovery for recovery in trial.recoveries}
    return {
        "schema_version": INSPECTION_VERSION,
        "trial": {**asdict(trial.key), "attempt": trial.attempt},
        "path": str(trial.path),
        "seed": trial.seed,
        "scenario": inspection.scenario,
        "versions": dict(inspection.versions),
        "outcome": trial.outcome.as_json() if trial.outcome else None,
        "canary": trial.canary,
        "harness_broke": list(trial.harness_broke),
        "trace_cut": trial.truncated,
        "exchanges": inspection.exchanges,
        "redacted": inspection.redacted,
        "llm": _llm(trial.llm) if trial.llm and trial.llm.calls else None,
        "answers": inspection.answers,
        "answers_with_action": inspection.read_answers,
        "tasks": [_task(use) for use in inspection.tasks],
        "llm_unread": [{"url": url, "reason": reason} for url, reason in trial.llm_unread],
        "cache_misses": [{**asdict(miss), "why": miss.why} for miss in inspection.cache_misses],
        "injections": [_injection(each, verdicts) for each in trial.injections],
        "skipped": dict(trial.skipped),
        "exposed": trial.exposed if trial.has_faults else None,
        "detected": trial.detected if trial.exposed else None,
        "recovered": trial.recovered if trial.exposed else None,
        "false_success": trial.false_success,
        "claim": trial.claim,
        "strategy": asdict(trial.strategy) if trial.exposed else None,
        "timeline": [asdict(moment) for moment in inspection.timeline],
    }


def _llm(llm: LlmUsage) -> dict[str, JsonValue]:
    names = (
        *("steps", "first_token_s", "tokens_per_s", "input_tokens", "cached_tokens"),
        *("cache_write_tokens", "output_tokens", "reasoning_tokens", "cost_usd"),
    )
    totals = {name: getattr(llm, name) for name in names}
    return {**totals, "calls": [asdict(call) for call in llm.calls]}


def _task(use: TaskUse) -> dict[str, JsonValue]:
    """Return one task; ``task`` is null if unattributed, ``solved`` is always null (unknown)."""
    return {
        "task": use.task or None,
        "run": use.run,
        "told_by": use.told_by,
        "seed": use.seed,
        "exchanges": use.exchanges,
        "llm_calls": len(use.llm.calls),
        "steps": use.llm.steps,
        "input_tokens": use.llm.input_tokens,
        "output_tokens": use.llm.output_tokens,
        "cost_usd": use.llm.cost_usd,
        "delivered": use.delivered,
        "missed": use.missed,
        "recovered": use.recovered,
        "solved": None,
    }


def _injection(injection: InjectionRecord, verdicts: dict[int, Recovery]) -> dict[str, JsonValue]:
    """Return an injection with its verdict; null without one, as for a missed injection."""
    recovery = None if injection.fate_seq is None else verdicts.get(injection.fate_seq)
    evidence = asdict(recovery) if recovery else {}
    evidence.pop("injection", None)
    return {**asdict(injection), "recovery": evidence or None}
