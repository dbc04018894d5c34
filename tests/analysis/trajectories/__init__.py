"""Trajectories with a person's label for each injection, which test the recovery detector.

`hand/*.yaml` are written by hand, with model answers in the formats of real harnesses;
`recorded/*.jsonl` are traces of real browsers, reduced by `strip_trace.py`, with labels in
`recorded/labels.yaml`. README.md explains how a label is decided.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.trace_builder import build_trace
from tests.yaml_files import load_yaml
from warex.analysis.recovery import Twin
from warex.benchmarks import benchmark_kind
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.events import Entry
from warex.traces.reader import read_trace

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Trajectory:
    """One trial's trace with a person's verdict on each injection."""

    name: str
    entries: tuple[Entry, ...]
    vocabulary: Vocabulary | None
    labels: Mapping[str, str]
    disagrees: tuple[str, ...] = ()
    """The injections where the model's words contradict the network."""
    twin: Twin | None = None
    """The clean trial of the same task."""


def trajectories() -> tuple[Trajectory, ...]:
    """Return all trajectories, those written by hand first."""
    return (*by_hand(), *recorded())


@functools.cache
def by_hand() -> tuple[Trajectory, ...]:
    """Return the trajectories written by hand."""
    results = []
    for file in sorted((HERE / "hand").glob("*.yaml")):
        for case in load_yaml(file):
            words = vocabulary_of(case.get("words", "testbed"))
            results.append(
                Trajectory(
                    f"{file.stem}: {case['name']}",
                    build_trace(case["story"], words),
                    words,
                    case["labels"],
                    tuple(case.get("disagrees", ())),
                    Twin(build_trace(case["clean"], words)) if "clean" in case else None,
                )
            )
    return tuple(results)


@functools.cache
def recorded() -> tuple[Trajectory, ...]:
    """Return the trajectories of real browsers."""
    cases = load_yaml(HERE / "recorded" / "labels.yaml")
    return tuple(
        Trajectory(
            f"recorded: {case['trace']}",
            read_trace(HERE / "recorded" / f"{case['trace']}.jsonl").entries,
            vocabulary_of(case.get("words", "testbed")),
            case["labels"],
            tuple(case.get("disagrees", ())),
        )
        for case in cases
    )


def vocabulary_of(words: Any) -> Vocabulary | None:
    """Return a benchmark's vocabulary by its name, or an explicit one."""
    if isinstance(words, str):
        return benchmark_kind(words).vocabulary
    return None if words is None else Vocabulary(**({"name": "own"} | words))
