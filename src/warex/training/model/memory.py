"""Checks that a model fits into memory before its weights are read; keeps freed memory."""

import ctypes
from pathlib import Path
from typing import Any, Final

from warex.errors import MachineError

_GIB: Final = 2**30
_FOUR_BITS: Final = 0.6
"""Bytes of a weight in 4 bits, including its share of the scales."""

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
"""As in glibc's malloc.h; the C library reads an int."""
_LARGEST_INT: Final = 2**31 - 1


def keep_freed_memory() -> bool:
    """Have glibc keep freed memory for reuse; return whether it does.

    A training step on a CPU allocates and frees the same gigabytes repeatedly. Returned to the
    kernel, they come back as pages to be zeroed, which costs a fifth of the step.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return all([mallopt(which, _LARGEST_INT) for which in (_MMAP_THRESHOLD, _TRIM_THRESHOLD)])


def require_memory(name: str, config: Any, weight: float, device: str) -> None:
    """Raise MachineError if a model's weights need more than the free memory.

    ``config`` is transformers', ``weight`` the bytes of one weight. What training needs in addition
    is not counted, so that no model that would fit is refused.
    """
    free = free_memory(device)
    needed = weights_of(config) * weight
    if free is not None and needed > free:
        where = "memory" if device == "cpu" else "the card's memory"
        raise MachineError(
            f"{name} has {needed / _GIB:.1f} GiB of weights, and {free / _GIB:.1f} GiB of {where}"
            " are free: take a smaller model, or on an NVIDIA card --qlora"
        )


def bytes_of_a_weight(*, bf16: bool, qlora: bool) -> float:
    """Return the bytes of each weight."""
    if qlora:
        return _FOUR_BITS
    return 2.0 if bf16 else 4.0


def weights_of(config: Any) -> int:
    """Return the number of a model's weights without allocating them."""
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    return sum(weight.numel() for weight in model.parameters())


def free_memory(device: str) -> int | None:
    """Return the free bytes of a card, or of this machine and control group; None if unknown."""
    if device.startswith("cuda"):
        import torch

        return int(torch.cuda.mem_get_info(device)[0])
    free = [it for it in (_available(), _left_in_group()) if it is not None]
    return min(free, default=None)


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(it.split()[1]) * 1024 for it in lines if it.startswith("MemAvailable")), None)


def _left_in_group(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return what a container's limit leaves; None without a limit (control groups v2)."""
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = (folder / "memory.current").read_text()
    except OSError:
        return None
    return None if limit == "max" else max(0, int(limit) - int(used))
