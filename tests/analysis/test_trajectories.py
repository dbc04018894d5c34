"""How well the detector finds what a person sees in a trace."""

from collections import Counter

import pytest

from tests.analysis.trajectories import Trajectory, trajectories
from warex.analysis.recovery import recoveries

ALL = trajectories()


def _verdicts(trajectory: Trajectory) -> dict[str, str]:
    found = recoveries(trajectory.entries, trajectory.vocabulary)
    return {each.injection: each.verdict for each in found}


@pytest.mark.parametrize("trajectory", ALL, ids=lambda trajectory: trajectory.name)
def test_each_verdict_is_what_a_person_says(trajectory: Trajectory) -> None:
    assert _verdicts(trajectory) == trajectory.labels


@pytest.mark.parametrize("trajectory", ALL, ids=lambda trajectory: trajectory.name)
def test_words_and_network_that_disagree_are_said_to(trajectory: Trajectory) -> None:
    found = recoveries(trajectory.entries, trajectory.vocabulary)

    assert tuple(r.injection for r in found if r.disagreement) == trajectory.disagrees


def test_precision_and_recall_are_high_enough(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = Counter(
        (label == "recovered", _verdicts(each).get(injection) == "recovered")
        for each in ALL
        for injection, label in each.labels.items()
    )
    right = pairs[True, True]
    precision = right / (right + pairs[False, True])
    recall = right / (right + pairs[True, False])

    with capsys.disabled():
        print(
            f"\nrecovery detector: precision {precision:.3f}, recall {recall:.3f} over"
            f" {sum(pairs.values())} injections of {len(ALL)} labelled trajectories"
        )
    assert len(ALL) >= 40
    assert precision >= 0.95
    assert recall >= 0.95
