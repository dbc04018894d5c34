"""Reads the files of a benchmark's command, which may be missing."""

import json
import os
from pathlib import Path
from typing import Any, Final

from warex.benchmarks.job import TaskResult
from warex.errors import TrialVoid
from warex.files.reading import open_regular_file, read_regular_file, read_text_file

_LOG_END: Final = 1 << 20
"""Bytes of a log in which its last line is looked for."""


def harness_crash(why: str) -> TaskResult:
    """Return the result for a harness that failed."""
    return TaskResult("harness_crashed", 0.0, reasons=(why,))


def no_result(code: int | None, why: str) -> TaskResult:
    """Return the result for a harness that left none, whose time was perhaps over (no code)."""
    return TaskResult("time_limit", 0.0) if code is None else harness_crash(why)


def read_text_or_empty(path: Path) -> str:
    """Return a file's text, invalid bytes replaced; "" if there is no file."""
    try:
        return read_text_file(path, "replace")
    except FileNotFoundError:
        return ""


def read_json_or_empty(path: Path) -> dict[str, Any]:
    """Return a file's JSON object, empty if there is no file; raise TrialVoid for other content."""
    try:
        data = json.loads(read_regular_file(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise TrialVoid(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise TrialVoid(f"{path} holds no JSON object")
    return data


def last_output(log: Path, about: str = "") -> str:
    """Return the last line of a log, or the last with ``about`` in it, to end a sentence with.

    Only the end of a long log is read; "" if it cannot be.
    """
    try:
        with open_regular_file(log) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LOG_END))
            end = file.read(_LOG_END).decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in end.split("\n") if line.strip()]
    matching = [line for line in lines if about in line] or lines
    return f", after it said: {matching[-1][:300]}" if matching else ""
