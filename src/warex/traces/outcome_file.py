"""The file of an attempt's outcome."""

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from warex.errors import MachineError, TraceError
from warex.files.reading import path_exists, read_regular_file
from warex.traces.files import read_json_object, write_atomic
from warex.traces.outcome import Counted, Outcome, Unscored, Void, outcome_of
from warex.traces.paths import OUTCOME

if TYPE_CHECKING:
    from pydantic import JsonValue

_written = msgspec.json.Decoder(Counted | Void | Unscored)


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write an attempt's outcome atomically, as the last file of its folder.

    Raises MachineError if that fails.
    """
    written: JsonValue = outcome.as_json()
    # An unscored one has no text to redact, and `warex exec` must end quickly.
    if not isinstance(outcome, Unscored):
        from warex.traces.redaction.structured import redact_json

        written = redact_json(written)
    text = json.dumps(written, ensure_ascii=False)
    write_atomic(folder / OUTCOME, (text + "\n").encode("utf-8", "replace"))


def without_learned(outcome: Outcome, learned: Collection[str]) -> Outcome:
    """Return an outcome without the secrets that its trial has shown."""
    from warex.traces.redaction.environment_secrets import KnownSecrets
    from warex.traces.redaction.token_patterns import REDACTED

    known = KnownSecrets(learned, in_json=True)
    text = json.dumps(outcome.as_json(), ensure_ascii=False).encode("utf-8", "surrogatepass")
    if not known.in_text(text):
        return outcome
    cleaned = known.replaced(text, REDACTED.encode(), in_words=False)
    return outcome_of(json.loads(cleaned))


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


def read_outcome(folder: Path | str) -> Outcome | None:
    """Return an attempt's outcome, or None. Raises TraceError if the file is damaged."""
    # Text: a run may have ten thousand, and a Path takes as long as its file.
    name = f"{folder}/{OUTCOME}"
    try:
        with suppress(msgspec.DecodeError, OSError):
            written: Outcome = _written.decode(read_regular_file(name, follow=False))
            return written
        # What WAREX does not write so, and what is damaged.
        path = Path(name)
        return outcome_of(read_json_object(path, "outcome")) if path_exists(path) else None
    except msgspec.ValidationError as error:
        from warex.traces.reader import explained

        raise TraceError(f"{name}: this is not an outcome: {explained(str(error))}.") from None
