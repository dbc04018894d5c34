"""Describes what is at a path that a user named."""

from collections.abc import Collection
from pathlib import Path

_NAMED = 5
"""Largest number of files in a message."""


def describe_path(path: Path) -> str:
    """Return a clause about what is at a path."""
    if path.is_symlink() and not path.exists():
        return "it is a link to nowhere"
    try:
        if not path.exists():
            return "there is nothing of this name"
        if not path.is_dir():
            return "it is a file" if path.stat().st_size else "it is an empty file"
        return _holds([each.name for each in path.iterdir()])
    except OSError as error:
        return f"it cannot be looked at ({error.strerror})"


def _holds(names: Collection[str]) -> str:
    shown = sorted(name for name in names if not name.startswith("."))
    if not shown:
        return "it is an empty folder"
    more = ", …" if len(shown) > _NAMED else ""
    return f"it is a folder that holds {', '.join(shown[:_NAMED])}{more}"
