from typing import Any

import pytest

from warex.errors import InputError
from warex.training.fine_tuning.batch_size import at_once, largest_that_fits, parts
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.model.loading import LoadedModel

AUTO = Hyperparameters(at_once="auto")


def on(device: str) -> LoadedModel:
    nothing: Any = None
    return LoadedModel(nothing, nothing, device, "m")


def test_parts_divide_a_batch_evenly() -> None:
    assert [list(parts(it)) for it in (1, 8, 12, 7)] == [[1], [8, 4, 2, 1], [12, 6, 3, 1], [7, 1]]


def test_a_number_is_taken_as_it_is_and_on_a_processor_auto_is_one() -> None:
    settings = Hyperparameters(at_once=4)
    assert at_once(on("cuda:0"), settings, 100, pairs=False, processes=2) == 4
    assert at_once(on("cpu"), AUTO, 100, pairs=False, processes=1) == 1


def test_auto_in_several_processes_is_refused() -> None:
    with pytest.raises(InputError, match="--at-once auto tries one card"):
        at_once(on("cuda:0"), AUTO, 100, pairs=False, processes=2)


@pytest.mark.slow
@pytest.mark.parametrize(("room", "fits"), [(100, 8), (5, 4), (0, 1)])
def test_a_batch_is_halved_until_a_step_fits(room: int, fits: int) -> None:
    """Slow: accelerate imports torch."""

    def attempt(size: int) -> None:
        if size > room:
            raise RuntimeError("CUDA out of memory.")

    assert largest_that_fits(8, attempt) == fits
