"""Reads the task file of the benchmark ``command``."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from warex.benchmarks.command.options import TaskEntry, TaskFile
from warex.benchmarks.scoring.json_path import resolve_path
from warex.errors import CampaignError
from warex.files.reading import read_text_file
from warex.scenarios.mistakes import validate_document

_OWN = ("expect", "reset", "vocabulary")
"""Optional keys of a task."""

_WANTED = {
    ".json": 'its list is empty; write there for instance [{"id": "tea"}]',
    ".jsonl": 'it has no line but blank ones; write on each for instance {"id": "tea"}',
    "": "it has no line but blank ones; write a task on each",
}
"""Message for a file without a task, by suffix."""


def read_tasks(tasks: TaskFile, path: Path) -> Iterator[TaskEntry]:
    """Yield a file's tasks; raise CampaignError for an invalid file."""
    where = f"benchmark.options.tasks: {path}"
    try:
        text = read_text_file(path)
    except (OSError, UnicodeDecodeError) as error:
        raise CampaignError(f"{where} cannot be read: {error}") from None
    seen: set[str] = set()
    for place, item in _items(path, text, where):
        entry = _entry(tasks, item, f"{where}, {place}")
        if entry.id in seen:
            raise CampaignError(f"{where}, {place}: the task {entry.id!r} is listed twice")
        seen.add(entry.id)
        yield entry
    if not seen:
        kind = path.suffix if path.suffix in _WANTED else ""
        raise CampaignError(f"{where} holds no task: {_WANTED[kind]}")


def _entry(tasks: TaskFile, item: Any, where: str) -> TaskEntry:
    if isinstance(item, str):
        return TaskEntry(id=item)
    try:
        data: dict[str, JsonValue] = {"id": str(resolve_path(item, tasks.id))}
        if tasks.text:
            data["text"] = str(resolve_path(item, tasks.text))
    except LookupError as error:
        raise CampaignError(f"{where}: {error}") from None
    for key in _OWN:
        try:
            data[key] = resolve_path(item, getattr(tasks, key))
        except LookupError:
            continue  # The options' value applies.
    entry, mistakes = validate_document(TaskEntry, data)
    if entry is None:
        raise CampaignError(f"{where}: {'; '.join(mistakes)}")
    return entry


def _items(path: Path, text: str, where: str) -> Iterator[tuple[str, Any]]:
    try:
        if path.suffix == ".json":
            data = json.loads(text)
            if isinstance(data, dict):
                data = [
                    {"id": key, **item} if isinstance(item, dict) else key
                    for key, item in data.items()
                ]
            yield from ((f"task {number}", item) for number, item in enumerate(data, 1))
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                item = json.loads(line) if path.suffix == ".jsonl" else line.strip()
                yield f"line {number}", item
    except (ValueError, TypeError) as error:
        raise CampaignError(f"{where} is no list of tasks: {error}") from None
