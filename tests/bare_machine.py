"""The programs that a quick test may start: those of a minimal machine with git and `make setup`.

Debian's smallest installation has them, as has nearly every other Linux. A test that needs another
program is slow, since only the slow tier's set-up installs it (`scripts/programs.sh`).
"""

import os
import shutil
from pathlib import Path

PROGRAMS = frozenset(
    (
        # What the README requires, and the browser that `make setup` provides.
        *("git", "make"),
        *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        *("chromium-headless-shell", "chrome-headless-shell"),
        # Debian's essential packages, as far as our tests and a browser's launcher call them.
        *("bash", "cat", "chmod", "cksum", "cp", "cut", "date", "dirname", "echo", "env", "expr"),
        *("false", "find", "findmnt", "grep", "head", "id", "kill", "ln", "ls", "mkdir", "mkfifo"),
        *("mktemp", "mv", "nsenter", "printf", "pwd", "readlink", "rm", "sed", "setpriv", "setsid"),
        *("sh", "sleep", "sort", "stat", "stty", "tail", "tee", "test", "touch", "tr", "true"),
        *("uname", "unshare", "wc"),
    )
)
_SYSTEMS = frozenset(
    ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin")
)


def bare_path(folder: Path) -> str:
    """Return a PATH with only these programs; it is ``folder``."""
    folder.mkdir()
    folder.chmod(0o755)  # Some tests run programs as another user.
    for name in PROGRAMS:
        if executable := shutil.which(name):
            (folder / name).symlink_to(executable)
    return str(folder)


def is_allowed(program: str, path: str) -> bool:
    """Whether a quick test may start a program, named by a name on this PATH or by a path.

    Allowed as well: a test's own programs and those of the virtual environment.
    """
    name = os.path.basename(program)
    if name in PROGRAMS or name.startswith("python"):
        return True
    result = program if os.path.dirname(program) else shutil.which(program, path=path)
    return result is None or os.path.dirname(result) not in _SYSTEMS
