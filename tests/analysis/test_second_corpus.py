"""How well the detector judges agents and sites of other kinds than it was first tuned on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.analysis.trajectories.raters import kappa, precision_and_recall
from tests.yaml_files import load_yaml
from warex.analysis.recovery import Recovery, Twin, claim_of, recoveries
from warex.analysis.recovery.trial_events import TrialEvents
from warex.traces import FaultPlanned, RequestSeen, Trace, read_trace

HALVES = ("dev", "test", "blind", "apps")
CORPUS = Path(__file__).parent / "trajectories" / "second_corpus"


@dataclass(frozen=True)
class Judged:
    """One injection: its labels, the detector's result, and a trivial rule's."""

    kinds: tuple[str, ...]
    verdict: str
    detected: str
    recovery: Recovery
    came_again: bool
    """Whether any later request had the same method and URL."""


@cache
def judged(half: str) -> tuple[Judged, ...]:
    return tuple(_judged(CORPUS / half))


def _judged(folder: Path) -> Iterator[Judged]:
    index = {one["name"]: one for one in load_yaml(folder / "index.yaml")}
    for name, labels in load_yaml(folder / "labels.yaml").items():
        trace = read_trace(folder / f"{name}.jsonl")
        twin = Twin(read_trace(folder / f"{index[name]['twin']}.jsonl").entries)
        first = {it.injection: it.repeat_of or it.injection for it in trace.events(FaultPlanned)}
        results = {
            _root(one.injection, first): one for one in recoveries(trace.entries, None, twin=twin)
        }
        for injection, label in labels["injections"].items():
            yield Judged(
                tuple(index[name]["kinds"]),
                label["verdict"],
                label["detected"],
                results[_root(injection, first)],
                _came_again(trace, injection),
            )


def _root(injection: str, first: dict[str, str]) -> str:
    while first[injection] != injection:
        injection = first[injection]
    return injection


def _came_again(trace: Trace, injection: str) -> bool:
    hit = next(it.exchange for it in trace.events(FaultPlanned) if it.injection == injection)
    seen = list(trace.events(RequestSeen))
    place = next((n for n, it in enumerate(seen) if it.exchange == hit), None)
    return place is not None and any(
        (it.method, it.url) == (seen[place].method, seen[place].url) for it in seen[place + 1 :]
    )


def _recovered(of: tuple[Judged, ...], rule: Callable[[Judged], bool]) -> tuple[float, float]:
    return precision_and_recall(of, lambda it: it.verdict == "recovered", rule)


@pytest.mark.parametrize("half", HALVES)
def test_recoveries_of_agents_of_other_kinds_are_reported(
    half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    of = judged(half)
    precision, recall = _recovered(of, lambda it: it.recovery.verdict == "recovered")
    trivial = _recovered(of, lambda it: it.came_again)
    seen = precision_and_recall(
        of, lambda it: it.detected == "yes", lambda it: bool(it.recovery.detected)
    )
    undecided = sum(it.recovery.verdict == "undecided" for it in of)
    with capsys.disabled():
        print(
            f"\n{half}: {len(of)} injections, recovered: precision {precision:.3f}, recall"
            f" {recall:.3f} (the same request came again: {trivial[0]:.3f}, {trivial[1]:.3f});"
            f" detected: {seen[0]:.3f}, {seen[1]:.3f}; {undecided} undecided"
        )
    assert min(precision, recall) >= 0.92
    assert min(seen) >= 0.9
    assert undecided <= len(of) / 10
    for kind in {kind for one in of for kind in one.kinds}:
        part = tuple(it for it in of if kind in it.kinds)
        assert min(_recovered(part, lambda it: it.recovery.verdict == "recovered")) >= 0.85, kind


def test_claims_in_last_answers_are_reported() -> None:
    right = total = 0
    for half in HALVES:
        for name, labels in load_yaml(CORPUS / half / "labels.yaml").items():
            trial = TrialEvents(read_trace(CORPUS / half / f"{name}.jsonl").entries, None)
            right += str(claim_of(trial)) == labels["claim"]
            total += 1
    assert right >= 0.9 * total


@pytest.mark.parametrize("half", ["blind", "apps"])
def test_a_second_reading_gives_the_same_labels(
    half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = load_yaml(CORPUS / half / "labels.yaml")
    pairs = [
        (first[name]["injections"][injection], label)
        for name, labels in load_yaml(CORPUS / half / "second_reading.yaml").items()
        for injection, label in labels["labels"].items()
    ]
    for word in ("verdict", "detected"):
        both = [(one[word], other[word]) for one, other in pairs]
        with capsys.disabled():
            print(f"\n{half}: {len(both)} times {word}, Cohen's kappa {kappa(both):.2f}")
        assert kappa(both) >= 0.8
