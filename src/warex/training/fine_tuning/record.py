"""The record of a training, ``recipe.json``: what it learns, from what, and with which recipe."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from warex.errors import InputError
from warex.exports.dataset import Dataset
from warex.files.reading import path_exists, read_regular_file
from warex.text.english import first_validation_error
from warex.traces.files import write_atomic
from warex.training.fine_tuning.hyperparameters import LORA_FIELDS, Hyperparameters, Name, flag

RECIPE: Final = "recipe.json"
_TRAINED_SPLITS: Final = ("train", "validation")


class TrainingRecord(Hyperparameters, frozen=True, extra="forbid"):
    """A recipe with the model and the data set to which it is applied."""

    model: Name
    adapter: Name | None = None
    """The folder of the adapter that is trained on."""
    data: Mapping[str, str] = {}
    """The data set's format, and the SHA-256 of its splits."""


def training_record(
    model: str, adapter: Path | None, dataset: Dataset, recipe: Hyperparameters
) -> TrainingRecord:
    """Return the record of a training."""
    splits = dataset.manifest.splits
    digests = {name: splits[name].sha256 for name in _TRAINED_SPLITS if name in splits}
    return TrainingRecord(
        model=model,
        adapter=None if adapter is None else str(adapter),
        data={"format": dataset.manifest.format, **digests},
        **recipe.model_dump(),
    )


def write_record(out: Path, record: TrainingRecord) -> None:
    """Write a record into the folder of a training. Raises OSError."""
    write_atomic(out / RECIPE, f"{record.model_dump_json(indent=2)}\n".encode())


def read_record(out: Path) -> TrainingRecord | None:
    """Return the record of the training in a folder; None if the folder is empty or missing.

    Raises InputError if the folder has other contents, or its record cannot be read.
    """
    file = out / RECIPE
    if not path_exists(file):
        if out.is_dir() and any(out.iterdir()):
            raise InputError(f"{out} is not of a training to go on with: it has no {RECIPE}")
        return None
    try:
        return TrainingRecord.model_validate_json(read_regular_file(file))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}") from None
    except ValidationError as error:
        raise InputError(f"{file}: {first_validation_error(error)}") from None


def require_same_training(out: Path, begun: TrainingRecord, now: TrainingRecord) -> None:
    """Raise InputError if a training cannot be resumed since it would be another one.

    Its last steps would be of another recipe than its first, and the record would be of the last.
    """
    if changed := differences(begun, now):
        raise InputError(
            f"{out} cannot be resumed with other options than it was begun with:"
            f" {'; '.join(changed)}. Take those of its {RECIPE}, or train into another --out"
        )


def differences(begun: TrainingRecord, now: TrainingRecord) -> list[str]:
    """Return how two records differ in what the first has and the training's result depends on.

    What only saves memory may differ: gradient checkpointing, and the examples at once, but for
    KTO, which compares those with each other. A record of an earlier version has the default LoRA
    in place of that of the adapter that is continued, which cannot be compared.
    """
    same_result = {"gradient_checkpointing", "at_once"}
    if now.data.get("format") == "kto" and now.at_once != "auto":
        same_result.remove("at_once")
    if now.adapter is not None and "adapter" not in begun.model_fields_set:
        same_result |= LORA_FIELDS
    return [
        _difference(name, getattr(begun, name), getattr(now, name))
        for name in TrainingRecord.model_fields
        if name in begun.model_fields_set - same_result
        and _identity(name, getattr(begun, name)) != _identity(name, getattr(now, name))
    ]


def _identity(name: str, value: Any) -> Any:
    """Return what is compared: of a path, also of a model's name on a hub, where it leads to."""
    return os.path.realpath(value) if name in ("model", "adapter") and value else value


def _difference(name: str, begun: Any, now: Any) -> str:
    if name == "data":
        return "--data has other rows"
    return f"{flag(name)} was {_word(begun)} and is {_word(now)}"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)
