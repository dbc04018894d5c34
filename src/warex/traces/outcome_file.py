"""The file that makes a folder a trial: how the attempt came out."""

import json
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from warex.errors import MachineError, TraceError
from warex.files.reading import path_exists
from warex.traces.files import first_validation_error, read_json_object, write_atomic
from warex.traces.outcome import Counted, Outcome, Unscored, Void, outcome_adapter
from warex.traces.paths import OUTCOME
from warex.traces.redaction.structured import redact_json


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write how an attempt came out: the last file of its folder, whole or not at all.

    Raises MachineError when the disk refuses.
    """
    said = outcome.model_dump()
    # An unscored one holds no text of anybody's, and is what `warex exec` ends with: quickly.
    text = json.dumps(
        said if isinstance(outcome, Unscored) else redact_json(said), ensure_ascii=False
    )
    write_atomic(folder / OUTCOME, (text + "\n").encode("utf-8", "replace"))


def leave_outcome(out: Path | None, broken: str | None, ended: Counted | Unscored) -> None:
    """Write how a trial outside a campaign came out, its last file; without a folder nothing.

    ``broken`` says why it is void, if it is: the caller raises that, so a disk that refuses even
    this is not said besides. Otherwise raises MachineError where the disk refuses.
    """
    if out is None:
        return
    if broken is None:
        write_outcome(out, ended)
        return
    with suppress(MachineError):
        write_outcome(out, Void(reason=broken))


def read_outcome(folder: Path) -> Outcome | None:
    """Return how an attempt came out, or None: without an outcome it is no trial.

    Raises TraceError if the file is cut short or damaged.
    """
    path = folder / OUTCOME
    if not path_exists(path):
        return None
    try:
        return outcome_adapter.validate_python(read_json_object(path, "outcome"))
    except ValidationError as error:
        raise TraceError(
            f"{path}: this is not an outcome: {first_validation_error(error)}."
        ) from None
