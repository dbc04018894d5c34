"""Decides how many examples are in memory at once: a part that divides a batch evenly."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from warex.errors import InputError
from warex.exports.names import Format
from warex.text.english import listing
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.model.loading import LoadedModel

_STATE: Final = 8
"""Bytes that the optimiser keeps of each trained weight: two moments in fp32."""

_LEAST: Final = {"kto": 2}
"""The least examples at once of a format: KTO's KL term needs another example's answer."""


def divide_batch(recipe: Hyperparameters, kind: Format, processes: int) -> Hyperparameters:
    """Return a recipe whose examples at once are enough for a format; ``auto`` stays.

    Raises InputError if the examples at once of all processes do not divide the batch evenly, so
    that an update would be of another number of examples, or for ``auto`` in several processes,
    whose cards may differ.
    """
    sizes = batch_parts(recipe.batch, kind, processes)
    where = f" in each of {processes} processes" if processes > 1 else ""
    if not sizes:
        least = _LEAST.get(kind, 1)
        raise InputError(
            f"--batch {recipe.batch}: a data set {kind} is trained with at least {least} at once"
            f"{where}: take a multiple of {least * processes}"
        )
    if recipe.at_once == "auto":
        if processes > 1:
            raise InputError(
                "--at-once auto tries one card, and each process has its own: name a number"
            )
        return recipe
    size = sizes[-1] if recipe.at_once < sizes[-1] else recipe.at_once
    if size not in sizes:
        above, below = [it for it in sizes if it > size][-1:], [it for it in sizes if it < size][:1]
        raise InputError(
            f"--at-once {size}{where} does not divide --batch {recipe.batch} evenly: take --at-once"
            f" {listing(map(str, below + above), 'or')}, or a --batch that is a multiple of"
            f" {size * processes}"
        )
    return recipe.model_copy(update={"at_once": size})


def batch_parts(batch: int, kind: Format, processes: int = 1) -> Sequence[int]:
    """Return the examples at once per process that divide a batch evenly, from the largest.

    Empty if none is enough for the format.
    """
    share, rest = divmod(batch, processes)
    if rest:
        return []
    return [size for size in range(share, _LEAST.get(kind, 1) - 1, -1) if share % size == 0]


def at_once(loaded: LoadedModel, recipe: Hyperparameters, tokens: int, kind: Format) -> int:
    """Return the examples in memory at once: the recipe's number, or for ``auto`` what fits.

    ``tokens`` is the length of the longest example. A processor gets the least, since more at
    once is not faster there. Raises no MachineError: a part that does not fit although it is the
    smallest fails in the training, with its remedies.
    """
    if recipe.at_once != "auto":
        return recipe.at_once
    parts = batch_parts(recipe.batch, kind)
    if not loaded.device.startswith("cuda"):
        return parts[-1]
    sequences = 1 if kind == "sft" else 2  # Of a pair, or of an answer and another's.
    return largest_that_fits(parts, lambda size: _try_step(loaded, size * sequences, tokens))


def largest_that_fits(parts: Sequence[int], attempt: Callable[[int], None]) -> int:
    """Return the first of a batch's parts with which a step fits; or the last, which is not tried.

    ``parts`` are in descending order.
    """
    from accelerate.utils import find_executable_batch_size

    sizes = iter(parts[1:])

    def smaller() -> int:
        return next(sizes)

    @find_executable_batch_size(starting_batch_size=parts[0], reduce_batch_size_fn=smaller)  # type: ignore[untyped-decorator]
    def fits(size: int) -> int:
        if size > parts[-1]:
            attempt(size)
        return size

    return int(fits())


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
