"""Which cards a training uses: one, or several by a launcher."""

from collections.abc import Mapping
from typing import Final

from warex.errors import InputError

PROCESSES: Final = "WORLD_SIZE"
"""The variable in which a launcher tells each process how many there are."""


def require_launcher(cards: int, environment: Mapping[str, str]) -> None:
    """Raise InputError if several cards are visible and no launcher has started this process.

    transformers would then split each batch among all cards (``DataParallel``): an update would
    be of ``cards`` times the examples that the recipe names, and slower than by processes.
    """
    if cards > 1 and PROCESSES not in environment:
        raise InputError(
            f"{cards} cards are visible, and no launcher shares the work among them: use one with"
            " CUDA_VISIBLE_DEVICES=0 warex train …, or all with accelerate launch -m warex.cli"
            " train …"
        )


def visible_cards() -> int:
    """Return the number of visible NVIDIA cards."""
    import torch

    return int(torch.cuda.device_count())


def processes(environment: Mapping[str, str]) -> int:
    """Return the number of processes that a launcher has started; 1 without one."""
    return int(environment.get(PROCESSES, "1"))
