"""Reads the times and costs of earlier runs from their ``summary.json``."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warex.files.reading import read_regular_file
from warex.traces.paths import CLEAN, NO_PROXY

if TYPE_CHECKING:
    from warex.campaigns.plan.forecast import PastTrial


def past_trials(runs: Path, longest_hold_s: float | None = None) -> "list[PastTrial]":
    """Return the trials of all summarised runs in a folder; unreadable ones are skipped.

    Under faults, only those of runs whose faults hold an exchange as long as ``longest_hold_s``.
    """
    try:
        folders = sorted(path for path in runs.iterdir() if path.is_dir())
    except OSError:
        return []
    return [seen for folder in folders for seen in _of_run(folder, longest_hold_s)]


def _of_run(folder: Path, longest_hold_s: float | None) -> "Iterator[PastTrial]":
    from warex.campaigns.plan.forecast import PastTrial

    summary, manifest = _read(folder / "summary.json"), _read(folder / "manifest.json")
    campaign = _dict(manifest.get("campaign"))
    holds_as_long = campaign.get("longest_hold_s") == longest_hold_s
    if not isinstance(agents := campaign.get("agents"), list):
        return
    models = {_dict(agent).get("name"): _dict(agent).get("model") for agent in agents}
    for trial in map(_dict, _list(summary.get("trials"))):
        latency, usd = trial.get("latency_s"), trial.get("cost_usd")
        model = models.get(trial.get("agent"))
        if not holds_as_long and trial.get("condition") not in (CLEAN, NO_PROXY):
            continue
        if isinstance(latency, int | float) and isinstance(model, str):
            yield PastTrial(
                run=folder.name,
                at=str(manifest.get("made_at")),
                benchmark=str(trial.get("benchmark")),
                model=model,
                condition=str(trial.get("condition")),
                latency_s=float(latency),
                usd=float(usd) if isinstance(usd, int | float) else None,
            )


def _read(path: Path) -> dict[str, Any]:
    try:
        return _dict(json.loads(read_regular_file(path)))
    except (OSError, ValueError, RecursionError):
        return {}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
