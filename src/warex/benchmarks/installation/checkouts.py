"""Messages about a benchmark's checkout."""

from collections.abc import Collection
from pathlib import Path

from warex.sandbox.doctor.finding import Finding

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


def missing_in_checkout(checkout: Path, wanted: str, project: str) -> str:
    """Return the message that a checkout lacks ``wanted``, with what was found and the remedy."""
    return (
        f"{checkout} holds no {wanted}: {describe_path(checkout)}; give the folder into"
        f" which {project} was cloned"
    )


def checkout_finding(name: str, checkout: Path, wanted: str, project: str) -> Finding:
    """Return whether a checkout holds the file ``wanted``, for ``warex doctor``."""
    there = (checkout / wanted).is_file()
    found = wanted if there else f"no checkout of {project}"
    return Finding(f"{name} checkout", "ok" if there else "missing", f"{checkout}: {found}")


def _holds(names: Collection[str]) -> str:
    shown = sorted(name for name in names if not name.startswith("."))
    if not shown:
        return "it is an empty folder"
    more = ", …" if len(shown) > _NAMED else ""
    return f"it is a folder that holds {', '.join(shown[:_NAMED])}{more}"
