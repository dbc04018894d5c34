"""The answers of an evaluation, written as they come: what was asked is not asked again.

::

    DIR/evaluation.json         the options that decide the answers
    DIR/answers.partial.jsonl   the answers until all have come,
    DIR/answers.jsonl           and then
"""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final, NotRequired, TypedDict

from pydantic import TypeAdapter, ValidationError

from warex.errors import InputError
from warex.files.reading import path_exists, read_regular_file, read_text_file
from warex.text.english import first_validation_error, listing
from warex.traces.files import write_atomic, write_error
from warex.training.evaluation.options import EvaluationOptions

type Record = dict[str, Any]
"""One answer: the names of its model and its row, the answer, and how it was classified."""


class _Message(TypedDict):
    content: str | list[Any]
    tool_calls: NotRequired[list[dict[str, Any]] | None]


class _RecordShape(TypedDict):
    """What is read of a record; it has more."""

    model: str
    row: str
    answer: _Message


_SHAPE: Final = TypeAdapter(_RecordShape)
_NAME: Final = "answers.jsonl"
_PARTIAL: Final = "answers.partial.jsonl"
_OPTIONS: Final = "evaluation.json"


class AnswerFile:
    """The answers in a folder; partial until all of them have come."""

    def __init__(
        self,
        folder: Path,
        options: EvaluationOptions,
        asked: Collection[tuple[str, str]],
        *,
        resume: bool,
    ) -> None:
        """``resume``: keep the answers that are there; ``asked`` are the models' and rows' names.

        Raises InputError if there are answers that are not to be kept, were asked with other
        options, or cannot be read, or if a finished evaluation is of other rows.
        """
        self.path, self._partial = folder / _NAME, folder / _PARTIAL
        self._options, self._options_path = options, folder / _OPTIONS
        self.is_finished = path_exists(self.path)
        """Whether all answers had come before."""
        present = self.path if self.is_finished else self._partial
        is_present = path_exists(present)
        if is_present and not path_exists(self._options_path):
            raise InputError(
                f"{present} has no {_OPTIONS} beside it, which says how its answers were asked:"
                " another version of WAREX wrote it. To keep it, name another folder with --out;"
                " delete it to ask all rows again"
            )
        if is_present and not resume:
            raise InputError(
                f"{folder} holds a finished evaluation ({_NAME}): name another folder with --out;"
                " the same command with --resume prints its table again"
                if self.is_finished
                else f"{present} holds the answers of an evaluation that did not end: go on with"
                " --resume, or delete it"
            )
        if is_present:
            self._require_same_options(present)
        self.earlier = _read(present) if is_present else []
        """The answers that are kept."""
        if self.is_finished:
            _require_same_rows(present, self.earlier, asked)
        elif is_present:
            self._write(self.earlier)  # Without a torn last line.

    def add(self, record: Record) -> None:
        """Write one more answer. Raises MachineError if that fails."""
        if not self._partial.exists():
            text = self._options.model_dump_json(indent=2) + "\n"
            write_atomic(self._options_path, text.encode("utf-8", "replace"))
            self._write([record])
            return
        try:
            with self._partial.open("a", encoding="utf-8", errors="replace") as file:
                file.write(_line(record))
        except OSError as error:
            raise write_error(self._partial, error) from None

    def finish(self) -> None:
        """Give the file its last name. Raises MachineError if that fails."""
        if self.is_finished:
            return
        try:
            self._partial.replace(self.path)
        except OSError as error:
            raise write_error(self.path, error) from None

    def _require_same_options(self, present: Path) -> None:
        path = self._options_path
        try:
            earlier = EvaluationOptions.model_validate_json(read_regular_file(path))
        except (OSError, ValidationError) as error:
            why = (
                first_validation_error(error)
                if isinstance(error, ValidationError)
                else error.strerror or error
            )
            raise InputError(
                f"{path} cannot be read: {why}. Name another folder with --out"
            ) from None
        if different := earlier.differences(self._options):
            raise InputError(
                f"{present} holds answers that were asked with other options; different:"
                f" {listing(different)}. Give those of {_OPTIONS} again, or name another folder"
                " with --out"
            )

    def _write(self, records: list[Record]) -> None:
        write_atomic(self._partial, "".join(map(_line, records)).encode("utf-8", "replace"))

    def __str__(self) -> str:
        """Return the path of what is there so far."""
        return str(self._partial)


def _require_same_rows(
    path: Path, records: list[Record], asked: Collection[tuple[str, str]]
) -> None:
    """Raise InputError if a finished evaluation has other rows, as with another ``--limit``."""
    answered = {(it["model"], it["row"]) for it in records}
    if answered != set(asked):
        raise InputError(
            f"{path} is finished, with {len(answered)} answers, and {len(asked)} are asked for:"
            " give the same --limit, or name another folder with --out"
        )


def _line(record: Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _read(path: Path) -> list[Record]:
    """Return the answers of a file; its last line may be torn.

    Raises InputError if it cannot be read, or another line is not an answer.
    """
    try:
        text = read_text_file(path, "replace")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}. Name another folder with --out"
        ) from None
    records = []
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            record = json.loads(line)
            _SHAPE.validate_python(record)
        except (ValueError, RecursionError):
            raise InputError(
                f"{path}, line {number}, is not an answer of `warex evaluate`: delete the file to"
                " ask all rows again"
            ) from None
        records.append(record)
    return records
