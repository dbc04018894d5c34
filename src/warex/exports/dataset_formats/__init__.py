"""Formats of data sets: a file each, found by being here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from warex.exports.examples import Example
from warex.exports.names import Kind, module_name
from warex.exports.rows import RowMetadata
from warex.llm.actions.vocabulary import Vocabulary

LOAD_DATASET: Final = 'from datasets import load_dataset\n\ndata = load_dataset("DIR")'
LOAD_LINES: Final = 'import json\n\ndata = [json.loads(line) for line in open("DIR/train.jsonl")]'


@dataclass(frozen=True, slots=True)
class DatasetFormat:
    """What a format makes of examples; each module has one as ``FORMAT``."""

    columns: str
    """What a row holds, in Markdown, for the card."""
    snippet: str
    """Python that loads it."""
    rows: Callable[[Sequence[Example]], Iterable[RowMetadata]]
    """Returns the rows of examples."""
    row: type[RowMetadata] | None = None
    """Class of the rows; None for a format of other programs, which is not read again."""
    written: Callable[[Any, Mapping[str, Vocabulary]], dict[str, Any]] | None = None
    """Returns a row as written; None: its fields."""
    kinds: tuple[Kind, ...] = ("failure", "clean")
    """Kinds of steps that it cannot do without."""
    takes_lost: bool = False
    """Whether answers that did not recover, and mistakes on clean pages, are of use to it."""


def dataset_format(name: str) -> DatasetFormat:
    """Return a format by its name."""
    chosen = import_module(f"{__name__}.{module_name(name)}").FORMAT
    assert isinstance(chosen, DatasetFormat)
    return chosen


def wanted_rows(examples: Sequence[Example]) -> Iterable[RowMetadata]:
    """Return the rows whose answer is wanted."""
    unwanted = ("lost", "mistake")
    return [it.row for it in examples if it.part not in unwanted or it.row.relabelled]
