"""Bind mounts over the host's files, for one mount namespace, from copies in memory.

Nothing is written to disk except a mount point, which is removed again. Standard library only, to
start quickly.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from warex.linux.syscalls import BIND, NOT_FOR_PROGRAMS, PRIVATE, READ_ONLY, REC, mount, unmount

_STAGING_FOLDERS: Final = ("/sys", "/mnt", "/tmp")


class SetupError(Exception):
    """This machine does not allow a setup step."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(step)
        self.step = step
        self.errno = error.errno or 0


class MountPoint:
    """A folder in the user's home that must exist while it is mounted over.

    Each user of it holds a shared lock; removing it needs an exclusive one.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._handle: int | None = None
        self._made: list[str] = []

    def make(self) -> bool:
        """Make and lock the folder; return whether this succeeded."""
        if self.path is None:
            return False
        self._made = list(_missing(self.path))
        for _ in range(100):
            try:
                os.makedirs(self.path, 0o700, exist_ok=True)
                self._handle = _locked_folder(self.path, fcntl.LOCK_SH)
            except FileNotFoundError:
                continue  # Another process has just removed it.
            except OSError:
                return False
            if self._handle is not None:
                return True
        return False

    def remove(self) -> None:
        """Remove the folder if it is empty and no other process holds it."""
        if self.path is None or self._handle is None:
            return
        with suppress(OSError):
            unmount(self.path)  # The mount of this namespace.
        os.close(self._handle)
        self._handle = None
        self.remove_if_unused()

    def remove_if_unused(self) -> None:
        """Remove the folder as a process that has not mounted over it."""
        if self.path is None:
            return
        with suppress(OSError):
            handle = _locked_folder(self.path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if handle is None:
                return
            try:
                os.rmdir(self.path)
                # Its parent has no other use; other parents only if they were made here.
                parent = os.path.dirname(self.path)
                for path in (parent, *(path for path in self._made if path != parent)):
                    os.rmdir(path)
            finally:
                os.close(handle)


def _missing(path: str) -> Iterator[str]:
    """Yield the missing folders above a path, the nearest first."""
    while not os.path.exists(path := os.path.dirname(path)):
        yield path


def _locked_folder(path: str, how: int) -> int | None:
    """Open and lock a folder; return None if it has been removed meanwhile."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, how)
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            return handle
    except FileNotFoundError:
        pass
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def bind_files(plan: dict[str, Any], mount_point: MountPoint) -> None:
    """Mount the plan's files over the host's, for this mount namespace only.

    They are copied to a tmpfs, which is mounted only until each file has been bound.
    """
    try:
        mount(None, "/", None, REC | PRIVATE)
        scratch = next(path for path in _STAGING_FOLDERS if os.path.isdir(path))
        mount("warex", scratch, "tmpfs", 2 | 4, "mode=0755")
    except OSError as error:
        raise SetupError("mounts", error) from None
    # The files must be readable by any user that a command runs as.
    mask = os.umask(0o022)
    try:
        _bind_all(scratch, plan, mount_point)
    finally:
        os.umask(mask)
    with suppress(OSError):
        unmount(scratch)


def _bind_all(scratch: str, plan: dict[str, Any], mount_point: MountPoint) -> None:
    count = 0
    for target, names in plan["layers"]:
        layer = f"{scratch}/layer{(count := count + 1)}"
        os.mkdir(layer, 0o755)
        for name, content in names.items():
            write_file(f"{layer}/{name}", content)
        # Without overlays, programs that read this folder do not find the CA.
        with suppress(OSError):
            mount("warex", target, "overlay", READ_ONLY, f"lowerdir={layer}:{target}")
    if mount_point.path is not None:
        mount_point.make()
    for target, content in plan["files"]:
        copy = f"{scratch}/{(count := count + 1)}"
        _write_copy(copy, content)
        with suppress(OSError):  # The target does not exist.
            mount(copy, os.path.realpath(target), None, BIND)
    if plan["data"] is not None:
        folder, database = plan["data"]
        with suppress(OSError):
            mount("warex", folder, "tmpfs", 2 | 4, "mode=0700")
            os.makedirs(f"{folder}/pki", 0o700)
            _write_copy(f"{folder}/pki/nssdb", database)
    for target in plan["hidden"]:
        with suppress(OSError):
            mount("warex", target, "tmpfs", NOT_FOR_PROGRAMS, "mode=0755")


def _write_copy(path: str, content: bytes | dict[str, bytes]) -> None:
    if isinstance(content, bytes):
        write_file(path, content)
        return
    os.mkdir(path, 0o700)
    for name, each in content.items():
        write_file(f"{path}/{name}", each, 0o600)


# ---- files


def read_file(path: str) -> bytes:
    """Return the content of a file."""
    with open(path, "rb") as file:
        return file.read()


def write_file(path: str, content: bytes, mode: int = 0o644) -> None:
    """Write a file in one write, as files of the kernel need."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        while content:
            content = content[os.write(handle, content) :]
    finally:
        os.close(handle)
