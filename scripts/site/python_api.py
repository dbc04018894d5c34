"""The page of the site with the Python API, from its docstrings."""

from typing import Final

import warex

PAGE: Final = "reference/python.md"


def python_api() -> str:
    """Return the page: each public name of ``warex``, in the order of its ``__all__``."""
    names = sorted(warex.__all__, key=lambda name: (name[0].isupper(), name))
    sections = "".join(f"\n::: warex.{name}\n" for name in names)
    return (
        "# Python\n\nThe public names of `warex`; how they are used:"
        " [from Python](../how-to/python-api.md), [from pytest](../how-to/ci.md#pytest).\n"
        f"{sections}"
    )
