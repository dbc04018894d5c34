"""Stores bodies and images by their hash, each once."""

import hashlib
import re
from pathlib import Path

from warex.errors import TraceError
from warex.files.reading import LARGEST, read_regular_file
from warex.traces.files import write_atomic, write_error

_REF = re.compile(r"sha256/[0-9a-f]{64}")


def reference(data: bytes) -> str:
    """Return the reference of these bytes: ``sha256/<hex>``."""
    return f"sha256/{hashlib.sha256(data).hexdigest()}"


class BlobStore:
    """A folder of blobs; a reference such as ``sha256/<hex>`` is also the path within it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> str:
        """Store the bytes and return their reference. Raises MachineError if that fails."""
        ref = reference(data)
        path = self._folder / ref
        if not path.exists():
            write_atomic(path, data)
        return ref

    def remove(self, ref: str) -> None:
        """Remove a blob, if it is there. Raises MachineError if that fails."""
        path = self._folder / ref
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(path, error) from error

    def get(self, ref: str, largest: int = LARGEST) -> bytes:
        """Return the bytes, ``largest`` at most. Raises TraceError: more, missing or damaged."""
        if not _REF.fullmatch(ref):
            raise TraceError(f"{ref!r} names no blob; what does reads sha256/<64 hex digits>.")
        path = self._folder / ref
        try:
            data = read_regular_file(path, follow=False, largest=largest)
        except OSError as error:
            raise TraceError(f"{path}: this blob cannot be read: {error.strerror}.") from error
        if reference(data) != ref:
            raise TraceError(f"{path}: this blob is damaged: its content no longer has that hash.")
        return data
