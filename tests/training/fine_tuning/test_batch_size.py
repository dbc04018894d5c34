from typing import Any

import pytest

from warex.errors import InputError
from warex.training.fine_tuning.batch_size import (
    at_once,
    batch_parts,
    divide_batch,
    largest_that_fits,
)
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.model.loading import LoadedModel

AUTO = Hyperparameters(at_once="auto")


def on(device: str) -> LoadedModel:
    nothing: Any = None
    return LoadedModel(nothing, nothing, device, "m")


@pytest.mark.parametrize(
    ("batch", "kind", "processes", "parts"),
    [
        (12, "sft", 1, [12, 6, 4, 3, 2, 1]),
        (12, "kto", 2, [6, 3, 2]),
        (7, "dpo", 1, [7, 1]),
        (8, "sft", 3, []),
        (2, "kto", 2, []),
    ],
)
def test_the_parts_of_a_batch_divide_it_evenly(
    batch: int, kind: str, processes: int, parts: list[int]
) -> None:
    assert list(batch_parts(batch, kind, processes)) == parts


@pytest.mark.parametrize(
    ("recipe", "kind", "processes", "size"),
    [
        (Hyperparameters(), "sft", 1, 1),
        (Hyperparameters(at_once=4), "dpo", 2, 4),
        (Hyperparameters(), "kto", 1, 2),
        (Hyperparameters(batch=3), "kto", 1, 3),
        (AUTO, "kto", 1, "auto"),
    ],
)
def test_a_default_recipe_has_as_many_at_once_as_its_data_need(
    recipe: Hyperparameters, kind: str, processes: int, size: int | str
) -> None:
    assert divide_batch(recipe, kind, processes).at_once == size


@pytest.mark.parametrize(
    ("recipe", "kind", "processes", "why"),
    [
        (Hyperparameters(at_once=3), "sft", 1, r"take --at-once 2 or 4, or a .* multiple of 3$"),
        (Hyperparameters(at_once=16), "sft", 1, r"--batch 8 evenly: take --at-once 8, or"),
        (Hyperparameters(at_once=3), "sft", 2, r"3 in each of 2 processes .* multiple of 6$"),
        (Hyperparameters(), "sft", 3, r"--batch 8: .* 3 processes: take a multiple of 3$"),
        (Hyperparameters(batch=1), "kto", 1, r"at least 2 at once: take a multiple of 2$"),
        (AUTO, "sft", 2, "--at-once auto tries one card"),
    ],
)
def test_a_batch_that_would_be_another_than_the_recipes_is_refused(
    recipe: Hyperparameters, kind: str, processes: int, why: str
) -> None:
    with pytest.raises(InputError, match=why):
        divide_batch(recipe, kind, processes)


def test_a_number_is_taken_as_it_is_and_on_a_processor_auto_is_the_least() -> None:
    assert at_once(on("cuda:0"), Hyperparameters(at_once=4), 100, "sft") == 4
    assert at_once(on("cpu"), AUTO, 100, "sft") == 1
    assert at_once(on("cpu"), AUTO, 100, "kto") == 2


@pytest.mark.slow
@pytest.mark.parametrize(("room", "fits"), [(100, 12), (5, 4), (0, 1)])
def test_the_largest_part_of_a_batch_is_taken_with_which_a_step_fits(room: int, fits: int) -> None:
    """Slow: accelerate imports torch."""

    def attempt(size: int) -> None:
        if size > room:
            raise RuntimeError("CUDA out of memory.")

    assert largest_that_fits(batch_parts(12, "sft"), attempt) == fits
