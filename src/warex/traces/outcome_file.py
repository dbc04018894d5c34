"""The file of an attempt's outcome."""

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from warex.errors import MachineError, TraceError
from warex.files.reading import path_exists
from warex.text.english import first_validation_error
from warex.traces.files import read_json_object, write_atomic
from warex.traces.outcome import Counted, Outcome, Unscored, Void, outcome_adapter
from warex.traces.paths import OUTCOME
from warex.traces.redaction.environment_secrets import KnownSecrets
from warex.traces.redaction.structured import REDACTED, redact_json


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write an attempt's outcome atomically, as the last file of its folder.

    Raises MachineError if that fails.
    """
    said = outcome.model_dump()
    # An unscored one has no text to redact, and `warex exec` must end quickly.
    written = said if isinstance(outcome, Unscored) else redact_json(said)
    text = json.dumps(written, ensure_ascii=False)
    write_atomic(folder / OUTCOME, (text + "\n").encode("utf-8", "replace"))


def without_learned(outcome: Outcome, learned: Collection[str]) -> Outcome:
    """Return an outcome without the secrets that its trial has shown."""
    known = KnownSecrets(learned, in_json=True)
    text = json.dumps(outcome.model_dump(), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if not known.in_text(text):
        return outcome
    cleaned = known.replaced(text, REDACTED.encode(), in_words=False)
    return outcome_adapter.validate_json(cleaned)


def leave_outcome(out: Path | None, broken: str | None, ended: Counted | Unscored) -> None:
    """Write the outcome of a trial outside a campaign, if it has a folder.

    ``broken`` is the reason for a void one, which the caller raises, so that an error of the write
    is suppressed. Otherwise raises MachineError if the write fails.
    """
    if out is None:
        return
    if broken is None:
        write_outcome(out, ended)
        return
    with suppress(MachineError):
        write_outcome(out, Void(reason=broken))


def read_outcome(folder: Path) -> Outcome | None:
    """Return an attempt's outcome, or None. Raises TraceError if the file is damaged."""
    path = folder / OUTCOME
    if not path_exists(path):
        return None
    try:
        return outcome_adapter.validate_python(read_json_object(path, "outcome"))
    except ValidationError as error:
        raise TraceError(
            f"{path}: this is not an outcome: {first_validation_error(error)}."
        ) from None
