"""Reads the task file of the benchmark ``command``."""

from pathlib import Path
from typing import Any

from pydantic import JsonValue

from warex.benchmarks.command.options import TaskEntry, TaskFile
from warex.benchmarks.scoring.json_path import resolve_path
from warex.benchmarks.task_file import read_task_file

_WANTED = {
    ".json": 'its list is empty; write there for instance [{"id": "tea"}]',
    ".jsonl": 'it has no line but blank ones; write on each for instance {"id": "tea"}',
    "": "it has no line but blank ones; write a task on each",
}
"""Message for a file without a task, by suffix."""


def read_tasks(tasks: TaskFile, path: Path) -> dict[str, TaskEntry]:
    """Return a file's tasks by name; raise CampaignError for an invalid file."""

    def fields(item: Any) -> JsonValue:
        if isinstance(item, str):
            return {"id": item}
        data: dict[str, JsonValue] = {"id": str(resolve_path(item, tasks.id))}
        if tasks.text:
            data["text"] = str(resolve_path(item, tasks.text))
        for key in ("expect", "reset", "vocabulary"):
            try:
                data[key] = resolve_path(item, getattr(tasks, key))
            except LookupError:
                continue  # The options' value applies.
        return data

    suffix = path.suffix if path.suffix in _WANTED else ""
    where = f"benchmark.options.tasks: {path}"
    return read_task_file(path, where, suffix, TaskEntry, _WANTED[suffix], fields)
