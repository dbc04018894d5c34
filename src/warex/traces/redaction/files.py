"""Redacts a file that another program wrote."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from warex.traces.files import write_atomic
from warex.traces.redaction.environment_secrets import KnownSecrets, secrets_of
from warex.traces.redaction.structured import REDACTED, redact_bytes

__all__ = ["redact_file", "secrets_of"]

_BLOCK = 256 * 1024
"""Bytes of a block, in whole lines."""


def redact_file(path: Path, secrets: Collection[str] = ()) -> None:
    """Redact a file of text or JSON, also of ``secrets``; ignore a missing file.

    Raises MachineError if that fails.
    """
    if path.is_symlink() or not path.is_file():
        return
    write_atomic(path, _redacted(path, KnownSecrets(secrets)))


def _redacted(path: Path, secrets: KnownSecrets) -> Iterator[bytes]:
    with path.open("rb") as file:
        for block in _blocks(file):
            yield redact_bytes(secrets.replaced(block, REDACTED.encode()))


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
