"""Paths into JSON: ``summary.tasks[0].score``, ``["a key with dots"]``; negative from the end."""

import json
import re
from typing import Annotated, Any

from pydantic import AfterValidator

from warex.benchmarks.table import Text

_STEP = re.compile(r"""\.?([^.\[\]"']+)|\[(-?\d+)\]|\[("(?:\\.|[^"\\])*")\]|\['([^']*)'\]""")

type Steps = tuple[str | int, ...]


def parse_path(path: str) -> Steps:
    """Return the steps of a path; raise ValueError for an invalid one."""
    steps: list[str | int] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (at == 0 and path.startswith(".")):
            raise ValueError(
                f"{path!r} is not a path into JSON at {path[at:]!r}; write for instance"
                " summary.tasks[0].score"
            )
        name, index, quoted, plain = match.groups()
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name or (json.loads(quoted) if quoted else plain))
        at = match.end()
    if not steps:
        raise ValueError("a path into JSON cannot be empty")
    return tuple(steps)


def _check_path(path: str) -> str:
    parse_path(path)
    return path


type JsonPath = Annotated[Text, AfterValidator(_check_path)]
"""A path, checked."""


def resolve_path(value: Any, path: str) -> Any:
    """Return the value at a path; raise LookupError, naming what is there instead."""
    shown = "the document"
    for step in parse_path(path):
        try:
            value = value[step if isinstance(value, list) else str(step)]
        except (LookupError, TypeError):
            if isinstance(value, dict):
                description = f"holds {', '.join(map(str, list(value)[:12])) or 'nothing'}"
            elif isinstance(value, list):
                description = f"is a list of {len(value)}"
            else:
                description = f"is {json.dumps(value)[:60]}"
            raise LookupError(f"{path!r}: no {step!r} there, since {shown} {description}") from None
        shown = repr(step)
    return value
