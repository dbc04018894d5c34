"""The page of the site with the Python API, from its docstrings."""

from collections.abc import Iterable
from typing import Final

import warex
import warex.rl

PAGE: Final = "reference/python.md"
_RL: Final = [name for name in vars(warex.rl) if hasattr(getattr(warex.rl, name), "__qualname__")]


def python_api() -> str:
    """Return the page: each public name of ``warex`` and ``warex.rl``, functions first."""
    return (
        "# Python\n\nThe public names of `warex`; how they are used:"
        " [from Python](../how-to/python-api.md), [from pytest](../how-to/ci.md#pytest).\n"
        f"{_sections('warex', warex.__all__)}"
        "\n## Reinforcement learning\n\nThe public names of `warex.rl`, which needs no extra; how"
        " they are used: [in a trainer](../how-to/reinforcement-learning.md).\n"
        f"{_sections('warex.rl', (*_RL, 'testbed.TestbedTasks'))}"
    )


def _sections(package: str, names: Iterable[str]) -> str:
    ordered = sorted(names, key=lambda name: (name.rpartition(".")[2][0].isupper(), name))
    return "".join(f"\n::: {package}.{name}\n" for name in ordered)
