"""The figures of a run as JSON: ``summary.json``."""

from dataclasses import fields

from pydantic import JsonValue

from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.output.json_values import fields_to_json, key_fields, to_json, trial_fields
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean
from warex.analysis.stats.paired import Delta, NoiseFloor, Power
from warex.analysis.table.conclusions import conclusions
from warex.analysis.table.tabulate import Table
from warex.analysis.trial.record import TrialRecord

SUMMARY_VERSION = 3
_RECOVERY = (
    *("injection", "verdict", "confidence", "seconds", "steps", "tokens", "tries", "disagreement"),
    *("needed", "detected", "lie"),
)


def summarise(run: Run, table: Table) -> dict[str, JsonValue]:
    """Return the table and each trial's figures as plain JSON.

    A condition has each metric under its key, see docs/reference/report.md. All intervals are 95 %
    intervals. Unknown values are null, never 0.
    """
    manifest = run.manifest
    return {
        "schema_version": SUMMARY_VERSION,
        "campaign": run.name,
        "seed": manifest.seed if manifest else None,
        "command": list(manifest.command) if manifest else None,
        "versions": dict(manifest.versions) if manifest else {},
        "prices_date": str(run.prices.date),
        "prices_source": run.prices.source,
        "prices_digest": run.prices.digest,
        "as_if": dict(priced_as_if(run)),
        "verdict": list(conclusions(run, table)),
        "conditions": [_row(row) for row in table.rows],
        "proxy_effect": _by_agent(table.proxy_effect),
        "proxy_latency_s": _by_agent(table.proxy_latency),
        "noise_floor": _by_agent(table.noise_floor),
        "power": _by_agent(table.power),
        "contrasts": to_json(table.contrasts),
        "defences": to_json(table.defences),
        "doses": to_json(table.doses),
        "endings": to_json(table.endings),
        "popups": to_json(table.popups),
        "attacks": to_json(table.attacks),
        "left_out": [
            {
                "agent": agent,
                "condition": condition,
                "benchmark": pair[0],
                "task": pair[1],
                "repeat": pair[2],
            }
            for agent, condition, pair in table.left_out
        ],
        "unfinished": table.unfinished,
        "trials": [_trial(trial, run) for trial in run.trials],
    }


def priced_as_if(run: Run) -> dict[str, str]:
    """Return the models that are priced as another one, with the name of that one."""
    return {
        model: other
        for trial in run.trials
        if trial.llm
        for model, other in sorted(trial.llm.as_if.items())
    }


def _row(row: ConditionRow) -> dict[str, JsonValue]:
    config = {f.name: to_json(getattr(row, f.name)) for f in fields(row) if f.name != "figures"}
    return config | {metric.key: to_json(metric.of(row)) for metric in METRICS}


def _by_agent(
    figures: tuple[tuple[str, Delta | Mean | NoiseFloor | Power], ...],
) -> list[JsonValue]:
    return [{"agent": agent, **fields_to_json(one)} for agent, one in figures]


def _trial(trial: TrialRecord, run: Run) -> dict[str, JsonValue]:
    return {
        **key_fields(trial),
        **trial_fields(trial, run),
        "faults": [*sorted({injection.kind for injection in trial.injections})],
        "recoveries": [
            {name: getattr(r, name) for name in _RECOVERY}
            | {"disagreement": r.disagreement or None}
            for r in trial.recoveries
        ],
    }
