"""The manifest of a run: the data to read or repeat its trials."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, JsonValue, ValidationError

from warex.errors import InputError, TraceError
from warex.files.reading import path_exists
from warex.text.english import first_validation_error
from warex.traces.files import read_json_object, write_atomic
from warex.traces.paths import MANIFEST
from warex.traces.redaction.files import keep_out
from warex.traces.redaction.structured import redact_arguments, redact_json

MANIFEST_VERSION: Final = 1


class Manifest(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The head of a run folder, frozen before its first trial."""

    schema_version: Literal[1] = MANIFEST_VERSION
    campaign: dict[str, JsonValue]
    """The whole configuration, with every default filled in."""
    vocabularies: dict[str, JsonValue]
    """Each benchmark's action names, so that reading needs no benchmark."""
    versions: dict[str, str]
    """Of WAREX, Python, the browser…"""
    seed: int
    prices_date: str
    """Day of the price table that costs are computed with, ISO 8601."""
    prices_source: str = ""
    """Where that table comes from; empty in older runs."""
    prices_digest: str = ""
    """SHA-256 of it, in hex; it lies in ``prices.json`` beside the manifest."""
    made_at: str
    """ISO 8601, UTC."""
    command: list[str]
    """The command line that repeats the run; empty where none does."""


def redact_manifest(manifest: Manifest) -> Manifest:
    """Return the manifest without secrets."""
    data = manifest.model_dump()
    traffic = manifest.campaign.get("traffic")
    texts = traffic.get("redact_strings") if isinstance(traffic, dict) else None
    keep_out(map(str, texts) if isinstance(texts, list | tuple) else ())
    command = redact_arguments(data.pop("command"))
    redacted = {name: redact_json(value) for name, value in data.items()}
    return Manifest.model_validate({**redacted, "command": command})


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write the redacted manifest atomically. Raises MachineError if that fails."""
    text = json.dumps(redact_manifest(manifest).model_dump(), indent=2, ensure_ascii=False)
    write_atomic(path, (text + "\n").encode("utf-8", "replace"))


def require_no_run(folder: Path) -> None:
    """Raise InputError if a folder holds a run: a trial in it would count among the run's own."""
    if not path_exists(folder / MANIFEST):
        return
    with suppress(TraceError):
        read_manifest(folder / MANIFEST)
        raise InputError(
            f"{folder} holds a run of a campaign, and a trial there would count among the run's"
            " own; give a folder of its own"
        )


def read_manifest(path: Path) -> Manifest:
    """Read a manifest. Raises TraceError if it is missing, invalid or of another version."""
    data = read_json_object(path, "manifest")
    if data.get("schema_version") != MANIFEST_VERSION:
        raise TraceError(
            f"{path}: schema_version {data.get('schema_version')!r} is unknown; this WAREX reads "
            f"{MANIFEST_VERSION}."
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        raise TraceError(
            f"{path}: this is not a manifest: {first_validation_error(error)}."
        ) from None
