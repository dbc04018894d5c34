"""The tasks of the scripted model, each with its steps."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

type Act = Literal["click", "fill", "select_option", "press", "answer"]

_ACTS: tuple[str, ...] = get_args(Act.__value__)
_WITH_TEXT = ("fill", "select_option", "press", "answer")


class TaskFileError(ValueError):
    """The task file is invalid; the message says where and what is allowed."""


@dataclass(frozen=True, slots=True)
class OracleStep:
    """An action on the element with this ARIA role and accessible name.

    Consecutive steps with the same `page` share one page load. An ``answer`` needs its element as
    evidence and sends the user `text`; for the others `text` is the text, label or key.
    """

    page: str
    action: Act
    role: str
    name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A goal and the steps that reach it."""

    name: str
    goal: str
    oracle: tuple[OracleStep, ...]

    def first_of_page(self, index: int) -> int:
        """Return the first step that shares step `index`'s page load."""
        while index and self.oracle[index - 1].page == self.oracle[index].page:
            index -= 1
        return index


class Tasks:
    """All known tasks, found by their goal."""

    def __init__(self, tasks: tuple[Task, ...]) -> None:
        """Raise TaskFileError if two tasks have one goal."""
        self._by_goal: dict[str, Task] = {}
        for task in tasks:
            other = self._by_goal.setdefault(_folded(task.goal), task)
            if other is not task:
                raise TaskFileError(f"The tasks {other.name!r} and {task.name!r} have one goal.")

    def find(self, goal: str) -> Task | None:
        """Return the task with this goal, or None."""
        return self._by_goal.get(_folded(goal))


def load(*paths: Path) -> Tasks:
    """Read task files (TOML: ``[[task]]`` with ``[[task.oracle]]``); other keys are ignored.

    Raises TaskFileError if one is unreadable or invalid, or two tasks have one goal.
    """
    tasks = tuple(task for path in paths for task in _read(path))
    try:
        return Tasks(tasks)
    except TaskFileError as error:
        raise TaskFileError(f"{', '.join(map(str, paths))}: {error}") from None


def _read(path: Path) -> tuple[Task, ...]:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise TaskFileError(f"{path}: cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TaskFileError(f"{path} is not TOML: {error}.") from None
    tables = data.get("task")
    if not isinstance(tables, list) or not tables:
        raise TaskFileError(f"{path}: there is no [[task]].")
    try:
        return tuple(_task(table, number) for number, table in enumerate(tables, 1))
    except TaskFileError as error:
        raise TaskFileError(f"{path}: {error}") from None


def _task(table: Any, number: int) -> Task:
    name = _string(table, "name", f"task {number}")
    where = f"task {name!r}"
    steps = table.get("oracle")
    if not isinstance(steps, list) or not steps:
        raise TaskFileError(f"{where} has no [[task.oracle]].")
    oracle = tuple(_step(step, f"{where}, oracle step {i}") for i, step in enumerate(steps, 1))
    return Task(name, _string(table, "goal", where), oracle)


def _step(table: Any, where: str) -> OracleStep:
    action = _string(table, "action", where)
    if action not in _ACTS:
        allowed = ", ".join(_ACTS)
        raise TaskFileError(f"{where}: action is {action!r}; allowed are {allowed}.")
    return OracleStep(
        page=_string(table, "page", where),
        action=cast(Act, action),
        role=_string(table, "role", where),
        name=_string(table, "name", where),
        text=_string(table, "text", where, empty=True) if action in _WITH_TEXT else "",
    )


def _string(table: Any, key: str, where: str, *, empty: bool = False) -> str:
    if not isinstance(table, Mapping):
        raise TaskFileError(f"{where} is {table!r}, not a table.")
    value = table.get(key)
    if not isinstance(value, str) or (not empty and not value.strip()):
        raise TaskFileError(f"{where}: {key} is {value!r}, not a text.")
    return value


def _folded(text: str) -> str:
    return " ".join(text.split())
