"""Labelled trajectories: what a person says of each injection, against what the detector finds.

`hand/*.yaml` are told line by line, the model's answers in the words of real harnesses;
`recorded/*.jsonl` are traces of real browsers, slimmed by `strip_trace.py`, with their labels in
`recorded/labels.yaml`. README.md beside them says how a label is decided.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.trace_builder import told
from tests.yaml_files import load_yaml
from warex.benchmarks import benchmark_kind
from warex.llm.actions.parser import Vocabulary
from warex.traces.events import Entry
from warex.traces.reader import read_trace

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Trajectory:
    """One trial's trace with the verdict that a person gave each injection."""

    name: str
    entries: tuple[Entry, ...]
    vocabulary: Vocabulary | None
    labels: Mapping[str, str]
    disagrees: tuple[str, ...] = ()
    """The injections where the model's words and the network do not tell the same."""


def trajectories() -> tuple[Trajectory, ...]:
    """Return all of them, the hand-made first."""
    return (*by_hand(), *recorded())


@functools.cache
def by_hand() -> tuple[Trajectory, ...]:
    """Return those that were written down."""
    found = []
    for file in sorted((HERE / "hand").glob("*.yaml")):
        for case in load_yaml(file):
            words = _vocabulary(case.get("words", "testbed"))
            found.append(
                Trajectory(
                    f"{file.stem}: {case['name']}",
                    told(case["story"], words),
                    words,
                    case["labels"],
                    tuple(case.get("disagrees", ())),
                )
            )
    return tuple(found)


@functools.cache
def recorded() -> tuple[Trajectory, ...]:
    """Return those of real browsers."""
    cases = load_yaml(HERE / "recorded" / "labels.yaml")
    return tuple(
        Trajectory(
            f"recorded: {case['trace']}",
            read_trace(HERE / "recorded" / f"{case['trace']}.jsonl").entries,
            _vocabulary(case.get("words", "testbed")),
            case["labels"],
            tuple(case.get("disagrees", ())),
        )
        for case in cases
    )


def _vocabulary(words: Any) -> Vocabulary | None:
    """Return a benchmark's vocabulary by its name, or the one that is written out."""
    if isinstance(words, str):
        return benchmark_kind(words).vocabulary
    return None if words is None else Vocabulary(name="own", **words)
