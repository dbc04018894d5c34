"""How well the detector finds what a person sees in a trace."""

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.analysis.trajectories import Trajectory, trajectories
from tests.analysis.trajectories.raters import (
    Labelled,
    kappa,
    labelled,
    precision_and_recall,
)
from tests.cases import every
from warex.analysis.recovery import recoveries

ALL = trajectories()


def _verdicts(trajectory: Trajectory) -> dict[str, str]:
    result = recoveries(trajectory.entries, trajectory.vocabulary, twin=trajectory.twin)
    return {each.injection: each.verdict for each in result}


@every("trajectory", ALL)
def test_each_verdict_is_what_a_person_says(trajectory: Trajectory) -> None:
    assert _verdicts(trajectory) == trajectory.labels


@every("trajectory", ALL)
def test_words_and_network_that_disagree_are_said_to(trajectory: Trajectory) -> None:
    result = recoveries(trajectory.entries, trajectory.vocabulary, twin=trajectory.twin)

    assert tuple(r.injection for r in result if r.disagreement) == trajectory.disagrees


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


def test_two_readers_and_the_detector_agree_on_held_out_injections(
    capsys: pytest.CaptureFixture[str],
) -> None:
    read = labelled()
    held_out = [one for one in read if one.held_out]
    verdicts = kappa([one.raters for one in read])
    noticing = kappa([one.detections for one in read])
    reported = [_recovery(half) for half in (held_out, [one for one in read if not one.held_out])]
    (precision, recall), tuned = reported

    with capsys.disabled():
        print(
            f"\n{len(read)} injections of {len({one.trial for one in read})} trials, each labelled"
            f" by two readers: Cohen's kappa {verdicts:.2f} for the verdict, {noticing:.2f} for"
            f" detection\nrecovered, {len(held_out)} held out: precision {precision:.3f}, recall"
            f" {recall:.3f} (the others: {tuned[0]:.3f}, {tuned[1]:.3f})\ndetected, held out:"
            " precision {:.3f}, recall {:.3f}".format(*_detection(held_out))
        )
    assert len(read) >= 150
    assert len(held_out) >= len(read) / 3
    assert verdicts >= 0.8
    assert precision >= 0.9
    assert recall >= 0.9


def _recovery(of: Sequence[Labelled]) -> tuple[float, float]:
    return precision_and_recall(
        of, lambda one: one.label == "recovered", lambda one: one.verdict == "recovered"
    )


def _detection(of: Sequence[Labelled]) -> tuple[float, float]:
    return precision_and_recall(
        of, lambda one: one.detected == "yes", lambda one: one.recovery.detected is True
    )
