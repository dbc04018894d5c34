"""Files laid over the host's, for one mount namespace: copied to memory, bound to their places.

Nothing is written to disk but for one folder that must be there to be laid over, and that is taken
away again. Standard library only: a user waits for this.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from warex.linux.syscalls import (
    BIND,
    NOT_FOR_PROGRAMS,
    PRIVATE,
    READ_ONLY,
    REC,
    mount,
    unmount,
)

_STAGING_FOLDERS: Final = ("/sys", "/mnt", "/tmp")


class SetupError(Exception):
    """This machine does not allow a step of the making."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(step)
        self.step = step
        self.errno = error.errno or 0


class MountPoint:
    """A folder in the user's home that must exist to be laid over, and must not stay.

    Many may need it at once: each holds a shared lock while it does, and who takes it away must
    hold it alone.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._handle: int | None = None
        self._made: list[str] = []

    def make(self) -> bool:
        """Make and hold it; return whether that is possible here."""
        if self.path is None:
            return False
        self._made = list(_missing(self.path))
        for _ in range(100):
            try:
                os.makedirs(self.path, 0o700, exist_ok=True)
                self._handle = _locked_folder(self.path, fcntl.LOCK_SH)
            except FileNotFoundError:
                continue  # Taken away by another who has just ended.
            except OSError:
                return False
            if self._handle is not None:
                return True
        return False

    def remove(self) -> None:
        """Take it away if it is empty and nobody else holds it."""
        if self.path is None or self._handle is None:
            return
        with suppress(OSError):
            unmount(self.path)  # It is laid over in here, by ourselves.
        os.close(self._handle)
        self._handle = None
        self.remove_if_unused()

    def remove_if_unused(self) -> None:
        """The same by somebody who has not laid it over."""
        if self.path is None:
            return
        with suppress(OSError):
            handle = _locked_folder(self.path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if handle is None:
                return
            try:
                os.rmdir(self.path)
                # Its parent is there for it alone, whoever made it; others only if by us.
                parent = os.path.dirname(self.path)
                for path in (parent, *(path for path in self._made if path != parent)):
                    os.rmdir(path)
            finally:
                os.close(handle)


def _missing(path: str) -> Iterator[str]:
    """Return the folders above a path that are not there, the nearest first."""
    while not os.path.exists(path := os.path.dirname(path)):
        yield path


def _locked_folder(path: str, how: int) -> int | None:
    """Return a handle of a folder, locked; None if it has been taken away meanwhile."""
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
    """Lay the plan's files over those of the host, for this mount namespace only.

    They are copied to memory that vanishes with the namespace. It is mounted where it disturbs
    nobody, and only until each file has been bound to its place.
    """
    try:
        mount(None, "/", None, REC | PRIVATE)
        scratch = next(path for path in _STAGING_FOLDERS if os.path.isdir(path))
        mount("warex", scratch, "tmpfs", 2 | 4, "mode=0755")
    except OSError as error:
        raise SetupError("mounts", error) from None
    # Whatever the caller's mask: these must be readable for whoever a command runs as.
    mask = os.umask(0o022)
    try:
        _bind_all(scratch, plan, mount_point)
    finally:
        os.umask(mask)
    with suppress(OSError):
        unmount(scratch)


def _bind_all(scratch: str, plan: dict[str, Any], mount_point: MountPoint) -> None:
    laid = 0
    for target, names in plan["layers"]:
        layer = f"{scratch}/layer{(laid := laid + 1)}"
        os.mkdir(layer, 0o755)
        for name, content in names.items():
            write_file(f"{layer}/{name}", content)
        # Where overlays are not allowed, those who look here for a certificate find none of ours.
        with suppress(OSError):
            mount("warex", target, "overlay", READ_ONLY, f"lowerdir={layer}:{target}")
    if mount_point.path is not None:
        mount_point.make()
    for target, content in plan["files"]:
        copy = f"{scratch}/{(laid := laid + 1)}"
        _write_copy(copy, content)
        with suppress(OSError):  # What is not there need not be covered.
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
    """Return what a file holds."""
    with open(path, "rb") as file:
        return file.read()


def write_file(path: str, content: bytes, mode: int = 0o644) -> None:
    """Write a file, in one write as the kernel's own files want it."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        while content:
            content = content[os.write(handle, content) :]
    finally:
        os.close(handle)
