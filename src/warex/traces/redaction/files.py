"""Redacts a file that another program wrote."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

from warex.traces.files import write_atomic
from warex.traces.redaction.environment_secrets import (
    KnownSecrets,
    process_secrets,
    secrets_of,
)
from warex.traces.redaction.redactor import Redactor
from warex.traces.redaction.structured import REDACTED, redact_bytes

__all__ = ["keep_out", "redact_file", "secrets_of"]

_BLOCK = 256 * 1024
"""Bytes of a block, in whole lines."""


def redact_file(path: Path, secrets: Collection[str] = ()) -> None:
    """Redact a file of text or JSON, also of ``secrets``; ignore a missing file.

    What a name in it makes secret is replaced wherever it stands in the file.
    Raises MachineError if that fails.
    """
    if path.is_symlink() or not path.is_file():
        return
    redactor = Redactor()
    redacted = partial(_redacted, path, KnownSecrets(secrets), redactor)
    write_atomic(path, redacted())
    if redactor.learned:
        write_atomic(path, redacted())


def keep_out(strings: Iterable[str]) -> None:
    """Replace these texts in all that this process redacts from now on."""
    process_secrets().add(strings)


def _redacted(path: Path, secrets: KnownSecrets, redactor: Redactor) -> Iterator[bytes]:
    with path.open("rb") as file:
        for block in _blocks(file):
            cleaned = redact_bytes(secrets.replaced(block, REDACTED.encode()), redactor.how)
            yield redactor.learned.without(cleaned)


def _blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join lines to blocks; a private key stays in one block."""
    held, size, in_key = list[bytes](), 0, False
    for line in lines:
        held.append(line)
        size += len(line)
        if b"PRIVATE KEY" in line:
            in_key = line.rfind(b"-----BEGIN") > line.rfind(b"-----END")
        if size >= (4 * _BLOCK if in_key else _BLOCK):
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
