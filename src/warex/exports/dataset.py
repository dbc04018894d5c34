"""A data set on disk: JSON Lines and Parquet for each split, a manifest, a card.

::

    DIR/train.jsonl validation.jsonl test.jsonl   also as .parquet for formats that are trained on
    DIR/dataset.json                              the manifest
    DIR/README.md                                 the data set card
    DIR/images/                                   screenshots
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, BaseModel, ValidationError

from warex.errors import InputError
from warex.exports.dataset_formats import dataset_format
from warex.exports.history import has_reload
from warex.exports.names import FORMATS, Format
from warex.exports.rows import ChatMessage, PreferencePair, Row, RowMetadata
from warex.exports.separability import Separability
from warex.extras import require_extra
from warex.files.reading import path_exists, read_regular_file
from warex.llm.actions.vocabulary import Vocabulary
from warex.text.english import first_validation_error
from warex.traces.files import write_atomic

MANIFEST: Final = "dataset.json"


class SplitFacts(BaseModel, frozen=True, extra="forbid"):
    """Counts and contents of a split."""

    examples: int
    failure: int
    clean: int
    relabelled: int
    rewritten: int = 0
    """Examples without the agent's words beside its actions, in the answer or in the prompt."""
    cut: int = 0
    """Examples whose page was cut."""
    cut_elements: int = 0
    failure_after_reload: int = 0
    """Failures whose history holds a reload (``retry``); 0 in data sets of earlier versions."""
    clean_after_reload: int = 0
    """The same of clean examples."""
    sites: tuple[str, ...]
    page_families: tuple[str, ...]
    faults: tuple[str, ...]
    agents: tuple[str, ...] = ()
    benchmarks: tuple[str, ...] = ()
    rejected_models: Mapping[str, int] = {}
    """Rejected answers by the model that gave them; empty but in preference pairs."""
    sha256: str
    """Of the JSON Lines."""


def _known(name: Format) -> Format:
    if name not in FORMATS:
        raise ValueError(f"this is {name!r}, not one of {', '.join(FORMATS)}")
    return name


class DatasetManifest(BaseModel, frozen=True, extra="forbid"):
    """The contents and origin of a data set."""

    schema_version: Literal[1] = 1
    format: Annotated[Format, AfterValidator(_known)]
    license: str = ""
    seed: int = 0
    made_by: str = ""
    """The command line that reproduces it."""
    warex: str = ""
    sources: tuple[str, ...] = ()
    """Names of the runs' folders."""
    split_by: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    """Leaks between the splits that were accepted."""
    masked: bool = False
    oracle: bool = False
    """Whether steps are answered by the tasks' oracles, whatever state the agent had come to."""
    left_out: Mapping[str, int] = {}
    """Steps that were left out, by reason."""
    warnings: tuple[str, ...] = ()
    """What a user should know before training on it."""
    separability: tuple[Separability, ...] = ()
    """How well trivial rules tell failures from clean rows, the best first."""
    vocabularies: Mapping[str, Vocabulary] = {}
    splits: Mapping[str, SplitFacts] = {}


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set in memory."""

    folder: Path
    manifest: DatasetManifest
    splits: Mapping[str, tuple[RowMetadata, ...]]

    def rows(self, split: str) -> tuple[Row, ...]:
        """Return a split's fine-tuning rows. Raises InputError for another format."""
        return cast("tuple[Row, ...]", self._of("sft", split))

    def pairs(self, split: str) -> tuple[PreferencePair, ...]:
        """Return a split's preference pairs. Raises InputError for another format."""
        return cast("tuple[PreferencePair, ...]", self._of("dpo", split))

    def vocabulary(self, facts: RowMetadata) -> Vocabulary:
        """Return the action vocabulary of a row's agent."""
        return self.manifest.vocabularies[facts.vocabulary]

    def _of(self, wanted: Format, split: str) -> tuple[RowMetadata, ...]:
        if self.manifest.format != wanted:
            raise InputError(
                f"{self.folder} is a data set of the format {self.manifest.format}, not {wanted}:"
                f" export it with --to {wanted}"
            )
        return self.splits.get(split, ())


@dataclass(frozen=True, slots=True)
class UnwrittenDataset:
    """A data set before it is written."""

    manifest: DatasetManifest
    splits: Mapping[str, Sequence[RowMetadata]]
    images: Mapping[str, bytes] = field(default_factory=dict)
    """By path below the folder."""


def write_dataset(
    folder: Path, draft: UnwrittenDataset, card: Callable[[DatasetManifest], str]
) -> DatasetManifest:
    """Write a data set, its manifest last; return the manifest. ``card`` makes README.md of it.

    Raises InputError if the folder is a file or not empty, MachineError if writing fails or Polars,
    which writes Parquet, is not installed.
    """
    require_empty_folder(folder)
    require_parquet(draft.manifest.format)
    for name, data in draft.images.items():
        write_atomic(folder / name, data)
    facts: dict[str, SplitFacts] = {}
    for split, rows in draft.splits.items():
        plain = [_written(row, draft.manifest) for row in rows]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain)
        data = text.encode("utf-8", "replace")
        write_atomic(folder / f"{split}.jsonl", data)
        if dataset_format(draft.manifest.format).row:
            write_atomic(folder / f"{split}.parquet", _parquet(plain))
        digest = hashlib.sha256(data).hexdigest()
        facts[split] = _facts(rows, draft.manifest.vocabularies, digest)
    manifest = draft.manifest.model_copy(update={"splits": facts})
    write_atomic(folder / "README.md", card(manifest).encode("utf-8", "replace"))
    serialized = json.dumps(manifest.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    write_atomic(folder / MANIFEST, serialized.encode("utf-8", "replace"))
    return manifest


def require_empty_folder(
    folder: Path, purpose: str = "the data set", otherwise: str = "delete it"
) -> None:
    """Raise InputError if nothing can be written into a folder; ``otherwise`` is a remedy."""
    if path_exists(folder) and not folder.is_dir():
        raise InputError(f"{folder} is not a folder: name one for {purpose}")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty: name a new folder, or {otherwise}")


def require_parquet(kind: Format) -> None:
    """Raise MachineError if a format is also written as Parquet and Polars is missing."""
    if dataset_format(kind).row:
        require_extra("frames", f"--to {kind}, which writes Parquet,", "polars")


def read_dataset(folder: Path) -> Dataset:
    """Read a data set.

    Raises InputError if it is missing, of an unknown version, changed since it was written, or has
    an invalid row; the message names file and line.
    """
    manifest = _manifest(folder)
    row_type = dataset_format(manifest.format).row
    if row_type is None:
        raise InputError(
            f"{folder} is a data set of the format {manifest.format}, which is for other programs:"
            " export it with --to sft"
        )
    splits = {
        split: tuple(_rows(folder / f"{split}.jsonl", manifest.format, row_type, facts.sha256))
        for split, facts in manifest.splits.items()
    }
    for rows in splits.values():
        for row in rows:
            if row.vocabulary not in manifest.vocabularies:
                raise InputError(
                    f"{folder / MANIFEST}: there is no vocabulary {row.vocabulary!r}, which row"
                    f" {row.id} names"
                )
    return Dataset(folder, manifest, splits)


def _manifest(folder: Path) -> DatasetManifest:
    path = folder / MANIFEST
    if not path_exists(path):
        raise InputError(
            f"{folder} is not a data set: it has no {MANIFEST}. `warex export RUN --to sft --out"
            " DIR` makes one"
        )
    try:
        return DatasetManifest.model_validate_json(_bytes(path))
    except ValidationError as error:
        raise InputError(f"{path}: {first_validation_error(error)}; export it again") from None


def _rows(path: Path, kind: Format, row_type: type[RowMetadata], digest: str) -> list[RowMetadata]:
    data, rows = _bytes(path), list[RowMetadata]()
    for number, line in enumerate(data.splitlines(), 1):
        try:
            rows.append(row_type.model_validate_json(line))
        except ValidationError as error:
            raise InputError(
                f"{path}:{number}: this is not a row of the format {kind}:"
                f" {first_validation_error(error)}"
            ) from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise InputError(
            f"{path} was changed since it was exported: its SHA-256 is not the one in {MANIFEST}."
            " Export it again"
        )
    return rows


def _bytes(path: Path) -> bytes:
    try:
        return read_regular_file(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None


def _written(row: RowMetadata, manifest: DatasetManifest) -> dict[str, Any]:
    """Return a row in the data set's format."""
    written = dataset_format(manifest.format).written
    return written(row, manifest.vocabularies) if written else row.model_dump(mode="json")


def _facts(
    rows: Sequence[RowMetadata], vocabularies: Mapping[str, Vocabulary], digest: str
) -> SplitFacts:
    def several(name: str) -> tuple[str, ...]:
        return tuple(sorted({str(getattr(row, name)) for row in rows} - {""}))

    failures = sum(row.kind == "failure" for row in rows)
    after_reload = Counter(row.kind for row in rows if _is_after_reload(row, vocabularies))
    rejected = Counter(row.rejected_model for row in rows if isinstance(row, PreferencePair))
    return SplitFacts(
        examples=len(rows),
        failure=failures,
        clean=len(rows) - failures,
        relabelled=sum(row.relabelled for row in rows),
        rewritten=sum(row.rewritten for row in rows),
        cut=sum(row.cut > 0 for row in rows),
        cut_elements=sum(row.cut for row in rows),
        failure_after_reload=after_reload["failure"],
        clean_after_reload=after_reload["clean"],
        sites=several("site"),
        page_families=several("page_family"),
        faults=several("fault"),
        agents=several("agent"),
        benchmarks=several("benchmark"),
        rejected_models=dict(rejected.most_common()),
        sha256=digest,
    )


def _is_after_reload(row: RowMetadata, vocabularies: Mapping[str, Vocabulary]) -> bool:
    prompt: list[ChatMessage] = getattr(row, "prompt")  # noqa: B009
    vocabulary = vocabularies.get(row.vocabulary)
    return vocabulary is not None and has_reload(prompt, vocabulary)


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import polars

    buffer = BytesIO()
    polars.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(buffer)
    return buffer.getvalue()
