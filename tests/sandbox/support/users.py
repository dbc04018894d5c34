"""Run a program as an ordinary user of this machine, whichever user runs the tests."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_REC_PRIVATE = 16384 | 1 << 18
_DETACH = 2


@dataclass(frozen=True, slots=True)
class User:
    """A user who runs a program."""

    name: str
    number: int | None
    """The user id; None for the user who runs the tests."""
    has_home: bool

    def __str__(self) -> str:
        return self.name


CALLER = User("caller", None, has_home=True)
NOBODY = User("nobody", 65534, has_home=False)
STRANGER = User("stranger", 4321, has_home=True)

USERS = [CALLER, NOBODY, STRANGER] if os.geteuid() == 0 else [CALLER]
"""Only root can be another user."""

LAST = [pytest.param(who, marks=pytest.mark.slow) for who in USERS[:-1]] + [USERS[-1]]
"""The users as parameters; the quick tier takes only the last, since each costs time."""


@contextmanager
def folder_of(user: User) -> Iterator[Path]:
    """Create a folder that the user can write and others can read."""
    folder = Path(tempfile.mkdtemp(prefix="warex-test-"))
    folder.chmod(0o755)
    if user.number is not None:
        os.chown(folder, user.number, user.number)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def environment_of(user: User, folder: Path) -> dict[str, str]:
    """Return the user's environment variables; a home, if any, is in this folder."""
    home = folder / "home"
    if user.has_home:
        home.mkdir(exist_ok=True)
        if user.number is not None:
            os.chown(home, user.number, user.number)
    missing = ("XDG_DATA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
    retained = {name: value for name, value in os.environ.items() if name not in missing}
    return {
        **retained,
        "HOME": str(home) if user.has_home else "/nonexistent",
        "WAREX_CA_DIR": str(folder / "ca"),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "TMPDIR": "/tmp",
    }


def command_as(user: User, arguments: Sequence[str]) -> list[str]:
    """Return the command that runs Python with these arguments as the user."""
    if user.number is None:
        return [sys.executable, *arguments]
    return [sys.executable, __file__, str(user.number), *arguments]


def python_as(
    user: User, code: str, folder: Path, *, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run Python code as the user, with the repository's modules."""
    return subprocess.run(
        command_as(user, ["-c", code]),
        env=environment_of(user, folder),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def _become(number: int, arguments: list[str]) -> None:
    """Become the user and run Python, with its folders readable even in root's home."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: bytes, target: bytes, kind: bytes, data: bytes) -> None:
        if libc.mount(source, target, kind, ctypes.c_ulong(0), data):
            raise OSError(ctypes.get_errno(), f"mount {target!r}")

    os.unshare(os.CLONE_NEWNS)
    libc.mount(None, b"/", None, ctypes.c_ulong(_REC_PRIVATE), None)
    for needed in (Path(sys.base_prefix), Path(sys.prefix), ROOT):
        for path in reversed(needed.parents):
            if path.stat().st_mode & 1:
                continue
            mount(b"warex", b"/mnt", b"tmpfs", b"")
            os.makedirs("/mnt/upper")
            os.makedirs("/mnt/work")
            place = os.fsencode(path)
            mount(
                b"warex",
                place,
                b"overlay",
                b"lowerdir=%b,upperdir=/mnt/upper,workdir=/mnt/work" % place,
            )
            libc.umount2(b"/mnt", _DETACH)
            path.chmod(0o755)
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
    os.execv(sys.executable, [sys.executable, *arguments])


if __name__ == "__main__":
    _become(int(sys.argv[1]), sys.argv[2:])
