"""Reads task files: JSON, JSONL, or a task a line."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, JsonValue

from warex.benchmarks.table import Text
from warex.errors import CampaignError
from warex.files.reading import read_text_file
from warex.scenarios.mistakes import validate_document


def check_name(name: str) -> str:
    """Return a task's name. Raises ValueError if no file or command can have it."""
    if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in name):
        raise ValueError(f"{name!a} holds a NUL or half a character; write whole text")
    return name


class NamedTask(BaseModel, frozen=True, extra="forbid"):
    """One task of a file."""

    id: Annotated[Text, AfterValidator(check_name)]


def read_task_file[T: NamedTask](
    path: Path,
    where: str,
    suffix: str,
    model: type[T],
    wanted: str,
    fields: Callable[[Any], JsonValue] = lambda item: item,
) -> dict[str, T]:
    """Return a file's tasks by their names.

    ``where`` names the file in messages; ``suffix`` is ``.json``, ``.jsonl``, or anything else for
    a task a line; ``wanted`` is what an empty file lacks; ``fields`` returns the model's fields of
    an item, or raises LookupError. Raises CampaignError for an invalid file, naming the place.
    """
    try:
        text = read_text_file(path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise CampaignError(f"{where} cannot be read: {why or error}") from None
    tasks: dict[str, T] = {}
    for place, item in _items(suffix, text, where):
        try:
            task, mistakes = validate_document(model, fields(item))
        except LookupError as error:
            raise CampaignError(f"{place}: {error}") from None
        if task is None:
            raise CampaignError(f"{place}: {'; '.join(mistakes)}")
        if task.id in tasks:
            raise CampaignError(f"{place}: the task {task.id!r} is listed twice")
        tasks[task.id] = task
    if not tasks:
        raise CampaignError(f"{where} holds no task: {wanted}")
    return tasks


def _items(suffix: str, text: str, where: str) -> Iterator[tuple[str, Any]]:
    """Yield each item with its place."""
    if suffix == ".json":
        try:
            data = json.loads(text)
            if isinstance(data, dict):
                data = [
                    {"id": key, **item} if isinstance(item, dict) else key
                    for key, item in data.items()
                ]
            numbered = list(enumerate(data, 1))
        except (ValueError, TypeError) as error:
            raise CampaignError(f"{where} is not a list of tasks: {error}") from None
        yield from ((f"{where}, task {number}", item) for number, item in numbered)
        return
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{where}, line {number}"
        try:
            if line.strip():
                yield place, json.loads(line) if suffix == ".jsonl" else line.strip()
        except ValueError as error:
            raise CampaignError(f"{place} is not JSON: {error}") from None
