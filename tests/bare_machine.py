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
        # POSIX, coreutils, util-linux.
        *("bash", "cat", "chmod", "cksum", "cp", "dirname", "env", "false", "grep", "id", "kill"),
        *("mkdir", "mktemp", "nsenter", "printf", "pwd", "rm", "sed", "setpriv", "sh", "sleep"),
        *("sort", "tail", "tee", "true", "uname", "unshare"),
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


def is_allowed(program: str) -> bool:
    """Whether a quick test may start this: by name, or by a path past any PATH.

    A test's own programs and those of the virtual environment lie elsewhere.
    """
    folder, name = os.path.split(program)
    return name in PROGRAMS or name.startswith("python") or bool(folder and folder not in _SYSTEMS)
