"""The file of what a judge model has read in a trial's last answer."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from warex.errors import TraceError
from warex.files.reading import path_exists
from warex.text.english import first_validation_error
from warex.traces.files import read_json_object, write_atomic

CLAIM = "claim.json"


class JudgedClaim(BaseModel, frozen=True, extra="ignore"):
    """What a model says that the agent's last answer claims."""

    claim: Literal["success", "failure", "unclear"]
    judge: str
    """The judge's model."""


def write_judged_claim(folder: Path, judged: JudgedClaim) -> None:
    """Write an attempt's judged claim atomically. Raises MachineError if that fails."""
    text = json.dumps(judged.model_dump(), ensure_ascii=False)
    write_atomic(folder / CLAIM, (text + "\n").encode("utf-8", "replace"))


def read_judged_claim(folder: Path) -> JudgedClaim | None:
    """Return an attempt's judged claim, or None. Raises TraceError if the file is damaged."""
    path = folder / CLAIM
    if not path_exists(path):
        return None
    try:
        return JudgedClaim.model_validate(read_json_object(path, "judged claim"))
    except ValidationError as error:
        raise TraceError(
            f"{path}: this is not a judged claim: {first_validation_error(error)}; delete it, and"
            " run `warex judge` again."
        ) from None
