"""Reads the steps of a plan in YAML that a harness carries out in order (Midscene, Maestro).

A step is a name (``- reload``), a name with what it is used on (``- tap: Save``), or an object that
names its action (``{action: click, target: Save}``).
"""

import json
import re
from collections.abc import Iterator
from typing import Final

from warex.llm.actions.name_heuristics import action_kind
from warex.text.lazy_pattern import lazy_re

MOST_TEXT: Final = 4000
"""Characters of a plan that are read."""
_MOST_STEPS = 50
_DEEPEST = 4
_MOST_BRACKETS = 200
"""The parser takes time by the square of the brackets that are open."""
_BRACKET = lazy_re(r"[{\[]")
_FENCED = lazy_re(r"```ya?ml[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_LISTS = ("action", "actions", "steps", "flow", "tasks", "commands")
"""Keys under which a plan has its steps."""
_NAMES = ("action", "name", "command")
"""Keys under which a step has its name."""


def plan_steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each step of the first plan in a text, and its arguments as JSON.

    A document counts only if one of its steps has the name of an action.
    """
    match = _FENCED.search(text)
    if match is None or len(match[1]) > MOST_TEXT:
        return
    if len(_BRACKET.findall(match[1])) > _MOST_BRACKETS:
        return
    steps = [
        step for number, step in enumerate(_steps(_parsed(match[1]), 0)) if number < _MOST_STEPS
    ]
    if any(action_kind(name) for name, _ in steps):
        for name, argument in steps:
            arguments = argument if isinstance(argument, dict) else {"value": argument}
            yield name, json.dumps(arguments)


def _parsed(source: str) -> object:
    import yaml

    try:
        # Aliases can grow without bound when they are written out as JSON.
        has_aliases = any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(source))
        # All scalars stay texts: types such as ``!!int ""`` fail in many ways.
        return None if has_aliases else yaml.load(source, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _steps(value: object, depth: int) -> Iterator[tuple[str, object]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for each in value[:_MOST_STEPS]:
            yield from _steps(each, depth + 1)
    elif isinstance(value, str) and depth:
        yield value, {}
    elif isinstance(value, dict):
        yield from _of_object(value, depth)


def _of_object(fields: dict[object, object], depth: int) -> Iterator[tuple[str, object]]:
    nested = next((fields[key] for key in _LISTS if isinstance(fields.get(key), list | dict)), None)
    name_key = next((key for key in _NAMES if isinstance(fields.get(key), str)), None)
    if nested is not None:
        yield from _steps(nested, depth + 1)
    elif name_key is not None:
        yield str(fields[name_key]), {str(k): v for k, v in fields.items() if k != name_key}
    elif depth:
        for name, argument in [*fields.items()][:1]:
            yield str(name), argument or {}
