"""Compares the classifier with labels that were written without it (labelled_answers/README.md)."""

import pytest

from tests.training.evaluation.agreement import (
    PARTS,
    agreement,
    by_majority,
    by_words,
    labelled,
)


@pytest.mark.parametrize(
    ("name", "part", "least"),
    [
        ("answers.yaml", "answers", 91),
        ("later.yaml", "answers", 34),
        ("harnesses.yaml", "answers", 85),
        ("harnesses.yaml", "held_back", 85),
        ("further.yaml", "answers", 86),
        ("further.yaml", "held_back", 86),
        ("frameworks.yaml", "answers", 76),
        ("frameworks.yaml", "held_back", 76),
        ("fifth.yaml", "answers", 69),
        ("sixth.yaml", "answers", 83),
        ("seventh.yaml", "answers", 64),
    ],
)
def test_the_classes_agree_with_labels_in_19_of_20_answers(
    name: str, part: str, least: int
) -> None:
    answers = labelled(name, part)

    assert agreement(answers) >= least, [str(it) for it in answers if it.label != it.classified]


def test_trivial_rules_agree_with_far_fewer_labels() -> None:
    answers = [it for part in PARTS for it in labelled(*part)]

    assert max(by_words(answers), by_majority(answers)) < 0.7 * len(answers)
    assert agreement(answers) > 0.9 * len(answers)


def test_recovery_is_read_with_precision_and_recall() -> None:
    answers = [it for part in PARTS for it in labelled(*part)]
    hits = sum(it.label == it.classified == "recovery" for it in answers)

    assert hits >= 0.95 * sum(it.label == "recovery" for it in answers)
    assert hits >= 0.95 * sum(it.classified == "recovery" for it in answers)
