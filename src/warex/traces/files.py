"""Atomic writes, and error messages for unusable files."""

import errno
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from warex.errors import MachineError, TraceError
from warex.files.private import make_private_dir, private_opener
from warex.files.reading import read_regular_file
from warex.text.english import with_article

_REMEDIES = {
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "the disk quota is used up: free some space",
    errno.EFBIG: "the file may not grow further: raise the limit (ulimit -f)",
    errno.EROFS: "the disk is read-only: choose another folder",
    errno.EACCES: "permission denied: choose a folder that you may write to",
    errno.EEXIST: "a file is in its place: choose another folder",
    errno.ENOTDIR: "a file is in its place: choose another folder",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter one",
}


def write_error(path: Path, error: OSError) -> MachineError:
    """Return the error for a failed write: where, why and a remedy."""
    why = _REMEDIES.get(error.errno or 0, error.strerror or str(error))
    return MachineError(f"{path} cannot be written: {why}. Everything written before is kept.")


def write_atomic(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write ``data`` to ``path`` atomically, replacing an old file; make a missing folder.

    ``data`` may be pieces that are read from ``path`` itself. Raises MachineError if that fails.
    """
    # Two threads may store the same blob at once.
    draft = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        make_private_dir(path.parent)
        try:
            with open(draft, "wb", opener=private_opener) as file:
                file.writelines((data,) if isinstance(data, bytes) else data)
            draft.replace(path)
        except OSError:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise write_error(path, error) from error


_LARGEST = 1 << 28


def read_json_object(path: Path, what: str) -> dict[str, Any]:
    """Return the JSON object in a file of ``what``. Raises TraceError if there is none."""
    try:
        data = json.loads(read_regular_file(path, follow=False, largest=_LARGEST))
    except FileNotFoundError:
        raise TraceError(f"{path} does not exist: this folder has no {what}.") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{path}: this {what} is cut short or damaged ({error}).") from None
    if not isinstance(data, dict):
        raise TraceError(f"{path}: this is not {with_article(what)}: it holds no JSON object.")
    return cast(dict[str, Any], data)
