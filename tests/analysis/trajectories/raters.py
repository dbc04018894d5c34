"""What two readers said of each injection of the collected trials, and which of them tuned no rule.

`corpus/labels.yaml` has for each trial and injection what readers ``a`` and ``b`` said, neither of
whom knew the detector's rules or the other's labels: the verdict, and whether the agent noticed.
Where they differ, ``c`` is a third reader's word, and the majority decides. GUIDE.md is all that
they were told.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.analysis.trajectories.render import CORPUS
from tests.yaml_files import load_yaml
from warex.analysis.recovery import HEALED_VERDICTS, Recovery, recoveries
from warex.benchmarks import benchmark_kind
from warex.llm.actions.parser import Vocabulary
from warex.traces import FaultPlanned, Trace, TrialBegan, read_trace


@dataclass(frozen=True)
class Labelled:
    """One injection, as its readers and the detector see it."""

    trial: str
    injection: str
    held_out: bool
    """Whether it belongs to the half that was never used for tuning."""
    readers: tuple[str, str]
    """``recovered``, ``healed``, ``not_recovered``, ``late`` or ``undecided``."""
    detections: tuple[str, str]
    """``yes``, ``no``, or ``-`` where the model was not asked after the fault."""
    label: str
    detected: str
    found: Recovery

    @property
    def verdict(self) -> str:
        """The detector's verdict in the readers' words."""
        if self.found.verdict in HEALED_VERDICTS:
            return "healed"
        return "late" if self.found.verdict == "not_needed" else self.found.verdict


@functools.cache
def labelled() -> tuple[Labelled, ...]:
    """Return every labelled injection of the corpus."""
    index = {one["name"]: one for one in load_yaml(CORPUS / "index.yaml")}
    labels = load_yaml(CORPUS / "labels.yaml")
    return tuple(
        one
        for trial, said in labels.items()
        for one in _of(trial, said, index[trial]["vocabulary"])
    )


def kappa[T: Hashable](pairs: Sequence[tuple[T, T]]) -> float:
    """Return Cohen's kappa: how far two readers agree beyond chance, 1 for always."""
    n = len(pairs)
    alike = sum(one == other for one, other in pairs) / n
    kinds = {kind for pair in pairs for kind in pair}
    chance = sum(
        sum(a == kind for a, _ in pairs) * sum(b == kind for _, b in pairs) for kind in kinds
    ) / (n * n)
    return 1.0 if chance == 1 else (alike - chance) / (1 - chance)


def precision_and_recall[T](
    of: Sequence[T], told: Callable[[T], bool], found: Callable[[T], bool]
) -> tuple[float, float]:
    """Return how many of the found are told, and how many of the told are found."""
    both = sum(told(one) and found(one) for one in of)
    return both / sum(map(found, of)), both / sum(map(told, of))


def _of(trial: str, said: dict[str, Any], words: Any) -> list[Labelled]:
    trace = read_trace(CORPUS / f"{trial}.jsonl")
    first = {
        plan.injection: plan.repeat_of or plan.injection for plan in trace.events(FaultPlanned)
    }
    # The detector names an occurrence by its last injection, a reader by its first.
    found = {_root(one.injection, first): one for one in recoveries(trace.entries, _words(words))}
    return [
        Labelled(
            trial=trial,
            injection=injection,
            held_out=_is_held_out(trace),
            readers=(told["a"][0], told["b"][0]),
            detections=(told["a"][1], told["b"][1]),
            label=_majority([reader[0] for reader in told.values()]),
            detected=_majority([reader[1] for reader in told.values()]),
            found=found[injection],
        )
        for injection, told in said.items()
    ]


def _root(injection: str, first: dict[str, str]) -> str:
    while first[injection] != injection:
        injection = first[injection]
    return injection


def _majority(said: Sequence[str]) -> str:
    """Return what most said; the last one's word where all differ."""
    return max(said, key=lambda word: (said.count(word), word == said[-1]))


def _is_held_out(trace: Trace) -> bool:
    """Divide by what was injected where, so that trials alike stand on one side."""
    began = trace.events(TrialBegan)[0]
    rules = (began.scenario or {}).get("rules")
    sites = list(began.sites) if began.benchmark == "testbed" else ""
    digest = hashlib.sha256(json.dumps([rules, sites], sort_keys=True).encode()).hexdigest()
    return bool(int(digest[0], 16) % 2)


def _words(words: Any) -> Vocabulary | None:
    if isinstance(words, str):
        return benchmark_kind(words).vocabulary
    return None if words is None else Vocabulary(**words)
