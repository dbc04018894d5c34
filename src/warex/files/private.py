"""Files and folders that only their owner can read, whatever the umask."""

import os
import stat
from contextlib import suppress
from pathlib import Path

_FILE, _FOLDER = 0o600, 0o700


def make_private_dir(path: Path) -> None:
    """Create a folder and its missing parents; keep an existing one. Raises OSError."""
    if path.is_dir():
        return
    missing = [path]
    while not missing[-1].parent.exists():
        missing.append(missing[-1].parent)
    for folder in reversed(missing):
        # Another trial may make the same folder at the same moment.
        folder.mkdir(_FOLDER, exist_ok=True)
        folder.chmod(_FOLDER)


def private_opener(path: str, flags: int) -> int:
    """Open a file for ``open``; make a regular file of this user private."""
    handle = os.open(path, flags, _FILE)
    status = os.fstat(handle)
    ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
    if ours and stat.S_IMODE(status.st_mode) != _FILE:
        os.fchmod(handle, _FILE)
    return handle


def restrict_to_owner(folder: Path) -> None:
    """Remove others' access to a folder's contents; skip files of other users."""
    for place, folders, files in os.walk(folder):
        for names, mode in ((folders, _FOLDER), (files, _FILE)):
            for path in (Path(place, name) for name in names):
                if not path.is_symlink():
                    with suppress(OSError):
                        path.chmod(mode)
