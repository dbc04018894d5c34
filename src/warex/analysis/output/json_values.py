"""Figures as plain values, for ``summary.json``, ``warex compare --json`` and the frames."""

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from pydantic import JsonValue

from warex.analysis.metrics.metric import Counts, Names, PassK
from warex.analysis.metrics.trial import TRIAL_METRICS
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import INTERNAL, Rate
from warex.analysis.trial.record import TrialRecord


def to_json(value: object) -> JsonValue:
    """Return a figure as JSON.

    Raises TypeError for other objects.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Rate():
            interval: list[JsonValue] = [*value.interval]
            return {"hits": value.hits, "n": value.n, "value": value.value, "interval": interval}
        case Counts():
            return dict(value.by)
        case Names():
            return list(value.names)
        case PassK():
            return {str(k): share for k, share in value.by}
        case tuple() | list():
            return [to_json(part) for part in value]
        case Mapping():
            return {str(name): to_json(part) for name, part in value.items()}
        case _ if is_dataclass(value):
            return {**fields_to_json(value)}
    raise TypeError(f"{value!r} is not a figure")


def fields_to_json(value: Any) -> dict[str, JsonValue]:
    """Return the fields of a dataclass as JSON."""
    return {
        field.name: to_json(getattr(value, field.name))
        for field in fields(value)
        if field.metadata != INTERNAL
    }


def key_fields(trial: TrialRecord) -> dict[str, JsonValue]:
    """Return the key of an attempt."""
    return {**asdict(trial.key), "attempt": trial.attempt}


def trial_fields(trial: TrialRecord, run: Run) -> dict[str, JsonValue]:
    """Return the values of an attempt, without its key; unknown ones are None, never 0."""
    path = trial.path.resolve().relative_to(run.path.resolve()).as_posix()
    return {**{metric.key: metric.read(trial) for metric in TRIAL_METRICS}, "path": path}
