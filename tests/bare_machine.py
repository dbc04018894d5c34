"""What a quick test may start: programs of a machine with no more than git, make and `make setup`.

Debian's smallest installation has them, and so has about every other Linux. A test that needs
another program is slow, since only the slow tier's set-up installs one (`scripts/programs.sh`).
"""

import os
import shutil
from pathlib import Path

PROGRAMS = frozenset(
    (
        # What the README asks for, and the browser that `make setup` sees to.
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
    """Return a PATH on which there is nothing else; it leads into ``folder``."""
    folder.mkdir()
    folder.chmod(0o755)  # Whoever a test runs a program as.
    for name in PROGRAMS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return str(folder)


def is_allowed(program: str, path: str) -> bool:
    """Whether a quick test may start this: by a name on this PATH, or by a path past any.

    A test's own programs and those of the virtual environment lie elsewhere.
    """
    name = os.path.basename(program)
    if name in PROGRAMS or name.startswith("python"):
        return True
    found = program if os.path.dirname(program) else shutil.which(program, path=path)
    return found is None or os.path.dirname(found) not in _SYSTEMS
