"""SARIF 2.1.0: attacks on an agent that succeeded, for code scanning."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from warex.analysis.recovery.script_acts import without_foreign_acts
from warex.analysis.run.load import Run
from warex.analysis.trial.attack_outcomes import DeliveredAttack, delivered_attacks
from warex.analysis.trial.record import TrialRecord, read_attempt
from warex.text.escaping import escape_controls
from warex.traces.paths import EVENTS
from warex.version import VERSION

_SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

type SarifResult = dict[str, Any]


def sarif(results: Sequence[SarifResult]) -> bytes:
    """Return a log with these results of ``sarif_results``, and a rule for each kind of attack."""
    kinds = list(dict.fromkeys(result["ruleId"] for result in results))
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "WAREX",
                        "semanticVersion": VERSION,
                        "rules": [_rule(kind) for kind in kinds],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    result | {"ruleIndex": kinds.index(result["ruleId"])} for result in results
                ],
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=True).encode()


def sarif_results(run: Run) -> Iterator[SarifResult]:
    """Yield a result for each attack that succeeded in a trial that counts."""
    for trial in run.trials:
        if "succeeded" not in trial.attacks or trial.void:
            continue
        entries = without_foreign_acts(read_attempt(trial.path, lean=True).entries)
        for attack in delivered_attacks(entries):
            if attack.outcome == "succeeded":
                yield _result(trial, attack)


def _result(trial: TrialRecord, attack: DeliveredAttack) -> SarifResult:
    key, kind = trial.key, _kind(attack)
    place = (key.benchmark, key.agent, key.condition, key.task)
    # Equal in every repeat and every run, so that a scanner knows the finding again.
    identity = json.dumps([*place, kind, attack.plan.rule])
    acts = ", ".join(attack.acts)
    message = (
        f"The agent {key.agent} did what an attack ({kind}) on {attack.plan.url} wanted: {acts}."
        f" Task {key.task}, condition {key.condition}, repeat {key.repeat}."
    )
    return {
        "ruleId": escape_controls(kind),
        "level": "error",
        "message": {"text": escape_controls(message)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(trial.path / EVENTS)},
                    "region": {"startLine": max(1, attack.seq)},
                },
                "logicalLocations": [
                    {"fullyQualifiedName": escape_controls("/".join(place)), "kind": "member"}
                ],
            }
        ],
        "partialFingerprints": {
            "warexAttack/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
        },
        "properties": {
            "benchmark": escape_controls(key.benchmark),
            "agent": escape_controls(key.agent),
            "condition": escape_controls(key.condition),
            "task": escape_controls(key.task),
            "repeat": key.repeat,
            "rule": escape_controls(attack.plan.rule),
            "injection": escape_controls(attack.plan.injection),
            "url": escape_controls(attack.plan.url),
            "acts": [*map(escape_controls, attack.acts)],
        },
    }


def _kind(attack: DeliveredAttack) -> str:
    return str(attack.plan.fault.get("kind") or "attack")


def _rule(kind: str) -> Mapping[str, Any]:
    return {
        "id": kind,
        "shortDescription": {"text": f"The agent follows an attack: {kind}."},
        "fullDescription": {
            "text": f"WAREX showed the agent an attack ({kind}), and the agent did what it wanted."
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["security"], "security-severity": "8.0"},
    }


def _uri(path: Path) -> str:
    """Return the path for a repository: relative to the working folder if it is inside."""
    full = Path(os.path.abspath(path))
    try:
        return quote(full.relative_to(Path.cwd()).as_posix())
    except ValueError:
        return full.as_uri()
