"""The raters' labels of the collected trials' injections, and the division into two halves.

`corpus/labels.yaml` has for each trial and injection the labels of raters ``a`` and ``b``, neither
of whom knew the detector's rules or the other's labels: the verdict, and whether the agent noticed.
Where they differ, ``c`` is a third rater's label, and the majority decides. Their only instructions
were GUIDE.md.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.analysis.trajectories import vocabulary_of
from tests.analysis.trajectories.render import CORPUS
from tests.yaml_files import load_yaml
from warex.analysis.recovery import HEALED_VERDICTS, Recovery, recoveries
from warex.traces import FaultPlanned, Trace, TrialBegan, read_trace


@dataclass(frozen=True)
class Labelled:
    """One injection with the labels of its raters and the detector's result."""

    trial: str
    injection: str
    held_out: bool
    """Whether it belongs to the half that was not used for tuning."""
    raters: tuple[str, str]
    """``recovered``, ``healed``, ``not_recovered``, ``late`` or ``undecided``."""
    detections: tuple[str, str]
    """``yes``, ``no``, or ``-`` if the model was not asked after the fault."""
    label: str
    detected: str
    recovery: Recovery

    @property
    def verdict(self) -> str:
        """The detector's verdict in the raters' words."""
        if self.recovery.verdict in HEALED_VERDICTS:
            return "healed"
        return "late" if self.recovery.verdict == "not_needed" else self.recovery.verdict


@functools.cache
def labelled() -> tuple[Labelled, ...]:
    """Return every labelled injection of the corpus."""
    index = {one["name"]: one for one in load_yaml(CORPUS / "index.yaml")}
    labels = load_yaml(CORPUS / "labels.yaml")
    return tuple(
        one
        for trial, message in labels.items()
        for one in _of(trial, message, index[trial]["vocabulary"])
    )


def kappa[T: Hashable](pairs: Sequence[tuple[T, T]]) -> float:
    """Return Cohen's kappa of two raters."""
    n = len(pairs)
    alike = sum(one == other for one, other in pairs) / n
    kinds = {kind for pair in pairs for kind in pair}
    chance = sum(
        sum(a == kind for a, _ in pairs) * sum(b == kind for _, b in pairs) for kind in kinds
    ) / (n * n)
    return 1.0 if chance == 1 else (alike - chance) / (1 - chance)


def precision_and_recall[T](
    of: Sequence[T], labelled: Callable[[T], bool], predicate: Callable[[T], bool]
) -> tuple[float, float]:
    """Return the precision and the recall of ``found`` against ``labelled``."""
    both = sum(labelled(one) and predicate(one) for one in of)
    return both / sum(map(predicate, of)), both / sum(map(labelled, of))


def _of(trial: str, answer: dict[str, Any], words: Any) -> list[Labelled]:
    trace = read_trace(CORPUS / f"{trial}.jsonl")
    first = {
        plan.injection: plan.repeat_of or plan.injection for plan in trace.events(FaultPlanned)
    }
    # The detector names an occurrence by its last injection, a rater by its first.
    results = {
        _root(one.injection, first): one for one in recoveries(trace.entries, vocabulary_of(words))
    }
    return [
        Labelled(
            trial=trial,
            injection=injection,
            held_out=_is_held_out(trace),
            raters=(labels["a"][0], labels["b"][0]),
            detections=(labels["a"][1], labels["b"][1]),
            label=_majority([verdict for verdict, _ in labels.values()]),
            detected=_majority([noticed for _, noticed in labels.values()]),
            recovery=results[injection],
        )
        for injection, labels in answer.items()
    ]


def _root(injection: str, first: dict[str, str]) -> str:
    while first[injection] != injection:
        injection = first[injection]
    return injection


def _majority(message: Sequence[str]) -> str:
    """Return the most frequent label; the last one if all differ."""
    return max(message, key=lambda word: (message.count(word), word == message[-1]))


def _is_held_out(trace: Trace) -> bool:
    """Divide by a digest of rules and sites, so that similar trials are in the same half."""
    began = trace.events(TrialBegan)[0]
    rules = (began.scenario or {}).get("rules")
    sites = list(began.sites) if began.benchmark == "testbed" else ""
    digest = hashlib.sha256(json.dumps([rules, sites], sort_keys=True).encode()).hexdigest()
    return bool(int(digest[0], 16) % 2)
