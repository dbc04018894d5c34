"""Redacts a file that another program wrote."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from warex.traces.files import write_atomic
from warex.traces.redaction.environment_secrets import (
    KnownSecrets,
    process_secrets,
    secrets_of,
)
from warex.traces.redaction.redactor import Redactor
from warex.traces.redaction.structured import REDACTED, redact_bytes

__all__ = ["keep_out", "redact_file", "redact_learned", "secrets_of"]

_BLOCK = 256 * 1024
"""Bytes of a block, in whole lines."""
_LONGEST_LINE = 4 * _BLOCK
"""Bytes of a line; a longer one is split, where possible between two words."""
_BETWEEN_WORDS = (b" ", b",", b";", b"&", b"<", b"\t")
_LEAST_PART = _LONGEST_LINE - 4096


def redact_file(path: Path, secrets: Collection[str] = (), key: bytes = b"") -> None:
    """Redact a file of text or JSON, also of ``secrets``; ignore a missing file.

    What a name in it makes secret is replaced wherever it stands in the file. ``key`` is the key of
    the hashes. Raises MachineError if that fails.
    """
    if path.is_symlink() or not path.is_file():
        return
    redactor = Redactor(key)
    redacted = partial(_redacted, path, KnownSecrets(secrets), redactor)
    write_atomic(path, redacted())
    if not redactor.learned.is_empty:
        write_atomic(path, redacted())


def redact_learned(path: Path, learned: Collection[str]) -> None:
    """Replace the secrets that a trial has shown in a file; ignore a missing one.

    Raises MachineError if that fails.
    """
    if not learned or path.is_symlink() or not path.is_file():
        return
    known = KnownSecrets(learned)
    with path.open("rb") as file:
        if not any(map(known.in_text, _overlapping(file, known.longest))):
            return
    write_atomic(path, _without(path, known))


def keep_out(strings: Iterable[str]) -> None:
    """Replace these texts in all that this process redacts from now on."""
    process_secrets().add(strings)


def _redacted(path: Path, secrets: KnownSecrets, redactor: Redactor) -> Iterator[bytes]:
    with path.open("rb") as file:
        for block in _blocks(file):
            cleaned = redact_bytes(secrets.replaced(block, REDACTED.encode()), redactor.how)
            yield redactor.learned.without(cleaned)


def _without(path: Path, known: KnownSecrets) -> Iterator[bytes]:
    """Yield a file's blocks without the secrets, also those that begin in one and end in another.

    The end of each block is held back with the next one: a secret in it may be incomplete.
    """
    buffer = b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            cleaned = known.replaced(buffer + block, REDACTED.encode(), in_words=False)
            end = max(0, len(cleaned) - known.longest)
            yield cleaned[:end]
            buffer = cleaned[end:]
    yield buffer


def _overlapping(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield a file's blocks, each with the last ``size`` bytes of the one before."""
    last = b""
    while block := file.read(_BLOCK):
        yield last + block
        last = block[-size:]


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file's lines, a very long one in parts."""
    rest = b""
    while line := rest + file.readline(_LONGEST_LINE - len(rest)):
        rest = b""
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            end = max(line.rfind(sign, _LEAST_PART) for sign in _BETWEEN_WORDS) + 1
            line, rest = (line[:end], line[end:]) if end else (line, b"")
        yield line


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Join lines to blocks; a private key stays in one block."""
    lines, size, in_key = list[bytes](), 0, False
    for line in _lines(file):
        lines.append(line)
        size += len(line)
        if b"PRIVATE KEY" in line:
            in_key = line.rfind(b"-----BEGIN") > line.rfind(b"-----END")
        if size >= (4 * _BLOCK if in_key else _BLOCK):
            yield b"".join(lines)
            lines, size = [], 0
    yield b"".join(lines)
