"""Finds how many examples of a data set fit into a card's memory at once."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from warex.errors import InputError
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.model.loading import LoadedModel

_STATE: Final = 8
"""Bytes that the optimiser keeps of each trained weight: two moments in fp32."""


def at_once(
    loaded: LoadedModel, recipe: Hyperparameters, tokens: int, *, pairs: bool, processes: int
) -> int:
    """Return the examples in memory at once: the recipe's number, or for ``auto`` what fits.

    ``tokens`` is the length of the longest example, ``pairs`` says that each has two answers. A
    processor gets 1, since more at once is not faster there. Raises InputError for ``auto`` in
    several processes, whose cards may differ; MachineError never: an example that does not fit
    alone fails in the training, with its remedies.
    """
    if recipe.at_once != "auto":
        return recipe.at_once
    if processes > 1:
        raise InputError(
            "--at-once auto tries one card, and each process has its own: name a number"
        )
    if not loaded.device.startswith("cuda"):
        return 1
    return largest_that_fits(
        recipe.batch, lambda size: _try_step(loaded, size * (2 if pairs else 1), tokens)
    )


def largest_that_fits(batch: int, attempt: Callable[[int], None]) -> int:
    """Return the largest part of a batch (its half, its quarter …) with which a step fits; or 1."""
    from accelerate.utils import find_executable_batch_size

    sizes = iter(parts(batch)[1:])

    def smaller() -> int:
        return next(sizes, 0)

    @find_executable_batch_size(starting_batch_size=batch, reduce_batch_size_fn=smaller)  # type: ignore[untyped-decorator]
    def fits(size: int) -> int:
        if size > 1:
            attempt(size)
        return size

    return int(fits())


def parts(batch: int) -> Sequence[int]:
    """Return a batch, and its halves as long as they divide it evenly, and 1."""
    sizes = [batch]
    while sizes[-1] % 2 == 0:
        sizes.append(sizes[-1] // 2)
    return sizes if sizes[-1] == 1 else [*sizes, 1]


def _try_step(loaded: LoadedModel, size: int, tokens: int) -> None:
    """Do what needs most memory: the gradient of the longest example, beside Adam's moments."""
    import torch

    trained = [weights for weights in loaded.model.parameters() if weights.requires_grad]
    room: Any = torch.empty(
        _STATE * sum(weights.numel() for weights in trained),
        dtype=torch.uint8,
        device=loaded.device,
    )
    try:
        words = torch.zeros((size, tokens), dtype=torch.long, device=loaded.device)
        loaded.model(input_ids=words, labels=words).loss.backward()
    finally:
        loaded.model.zero_grad(set_to_none=True)
        del room
        torch.cuda.empty_cache()
