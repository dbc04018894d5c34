"""The answers of an evaluation, written as they come: what was asked is not asked again."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from warex.errors import InputError
from warex.traces.files import write_atomic, write_error

type Record = dict[str, Any]
"""One answer: the names of its model and its row, the answer, and how it was classified."""

_NAME, _PARTIAL = "answers.jsonl", "answers.partial.jsonl"


class AnswerFile:
    """The answers in a folder; partial until all of them have come."""

    def __init__(self, folder: Path, models: Collection[str], *, resume: bool) -> None:
        """``resume``: keep the answers of an evaluation that did not end, of the same models.

        Raises InputError if they are of another model, cannot be read, or are not to be kept.
        """
        self.path, self._partial = folder / _NAME, folder / _PARTIAL
        if self._partial.exists() and not resume:
            raise InputError(
                f"{self._partial} holds the answers of an evaluation that did not end: go on with"
                " --resume, or delete it"
            )
        self.earlier = _read(self._partial, models) if resume else []
        """The answers that are kept."""
        if resume and self._partial.exists():
            self._write(self.earlier)  # Without a torn last line.

    def add(self, record: Record) -> None:
        """Write one more answer. Raises MachineError if that fails."""
        if not self._partial.exists():
            self._write([record])
            return
        try:
            with self._partial.open("a", encoding="utf-8", errors="replace") as file:
                file.write(_line(record))
        except OSError as error:
            raise write_error(self._partial, error) from None

    def finish(self) -> None:
        """Give the file its name, in place of that of an earlier evaluation."""
        self._partial.replace(self.path)

    def _write(self, records: list[Record]) -> None:
        write_atomic(self._partial, "".join(map(_line, records)).encode("utf-8", "replace"))

    def __str__(self) -> str:
        """Return the path of what is there so far."""
        return str(self._partial)


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _read(path: Path, models: Collection[str]) -> list[Record]:
    """Return the answers of a partial file; its last line may be torn."""
    try:
        lines = path.read_text("utf-8", "replace").split("\n")[:-1]
    except FileNotFoundError:
        return []
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            model, _, _ = record["model"], record["row"], record["answer"]["content"]
        except (ValueError, KeyError, TypeError):
            raise InputError(
                f"{path}, line {number}, is not an answer of `warex evaluate`: delete the file to"
                " ask all rows again"
            ) from None
        if model not in models:
            raise InputError(
                f"{path} holds answers of {model}, not of {', '.join(models)}: name the same"
                " models, or delete the file to ask all rows again"
            )
        records.append(record)
    return records
