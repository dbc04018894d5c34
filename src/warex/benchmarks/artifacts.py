"""Reads what a benchmark's command left behind, which may be nothing."""

import json
from pathlib import Path
from typing import Any

from warex.benchmarks.base import TaskResult
from warex.errors import TrialVoid
from warex.files.reading import read_regular_file, read_text_file


def harness_crash(why: str) -> TaskResult:
    """Return the result of a harness that gave none."""
    return TaskResult("harness_crashed", 0.0, reasons=(why,))


def read_text_or_empty(path: Path) -> str:
    """Return what a file holds, whatever its bytes; nothing if there is none."""
    try:
        return read_text_file(path, "replace")
    except FileNotFoundError:
        return ""


def read_json_or_empty(path: Path) -> dict[str, Any]:
    """Return the JSON object that a file holds, an empty one if there is no file.

    Raises TrialVoid where something else is in it.
    """
    try:
        said = json.loads(read_regular_file(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TrialVoid(f"{path} cannot be read: {error}") from None
    if not isinstance(said, dict):
        raise TrialVoid(f"{path} holds no JSON object")
    return said


def last_output(log: Path, about: str = "") -> str:
    """Return the last line that was printed, as the end of a sentence.

    If any line has ``about`` in it, the last of those.
    """
    lines = [line.strip() for line in read_text_or_empty(log).split("\n") if line.strip()]
    said = [line for line in lines if about in line] or lines
    return f", after it said: {said[-1][:300]}" if said else ""
