import pytest
from pydantic import ValidationError

from warex.training.fine_tuning.hyperparameters import Hyperparameters


def test_the_papers_recipe_is_the_default() -> None:
    paper = Hyperparameters()

    assert (paper.rank, paper.alpha, paper.epochs, paper.batch) == (8, 16, 4, 8)
    assert (paper.learning_rate, paper.schedule, paper.warmup, paper.grad_norm) == (
        1e-4,
        "cosine",
        0.0,
        1.0,
    )


def test_a_batch_is_accumulated_from_what_fits_at_once() -> None:
    assert Hyperparameters().accumulated() == 8
    assert Hyperparameters(batch=8, at_once=4).accumulated() == 2


def test_a_batch_is_divided_among_processes() -> None:
    assert Hyperparameters(batch=8).accumulated(processes=2) == 4
    assert Hyperparameters(batch=8, at_once=2).accumulated(processes=4) == 1


@pytest.mark.parametrize("wrong", [{"rank": 0}, {"learning_rate": 2}, {"epoch": 3}])
def test_what_cannot_be_trained_with_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Hyperparameters.model_validate(wrong)
