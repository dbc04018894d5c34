"""Reads what a benchmark's command left behind, which may be nothing."""

import json
from pathlib import Path
from typing import Any

from warex.benchmarks.base import Result
from warex.errors import TrialVoid
from warex.files.reading import read_ordinary, read_words


def crashed(why: str) -> Result:
    """Return the result of a harness that gave none."""
    return Result("harness_crashed", 0.0, reasons=(why,))


def text_in(path: Path) -> str:
    """Return what a file holds, whatever its bytes; nothing if there is none."""
    try:
        return read_words(path, "replace")
    except FileNotFoundError:
        return ""


def object_in(path: Path) -> dict[str, Any]:
    """Return the JSON object that a file holds, an empty one if there is no file.

    Raises TrialVoid where something else is in it.
    """
    try:
        said = json.loads(read_ordinary(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TrialVoid(f"{path} cannot be read: {error}") from None
    if not isinstance(said, dict):
        raise TrialVoid(f"{path} holds no JSON object")
    return said


def last_words(log: Path, about: str = "") -> str:
    """Return the last line that was printed, as the end of a sentence.

    If any line has ``about`` in it, the last of those.
    """
    lines = [line.strip() for line in text_in(log).split("\n") if line.strip()]
    said = [line for line in lines if about in line] or lines
    return f", after it said: {said[-1][:300]}" if said else ""
