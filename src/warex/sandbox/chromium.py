"""Finds Chromium on this machine and builds its command line."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from warex.errors import MachineError
from warex.extras import install_command

if TYPE_CHECKING:
    from warex.proxy.certificates.ca import CertificateAuthority

QUIET_FLAGS = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Disable the browser's background traffic, and QUIC, which avoids an HTTP proxy."""

_FULL = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
_PLAYWRIGHT_FULL_GLOBS = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
)
_PLAYWRIGHT_SHELL_GLOBS = ("chromium_headless_shell-*/chrome-*/*headless?shell",)


def find_chromium(
    environment: Mapping[str, str] = os.environ, *, headless_shell: bool = False
) -> Path:
    """Return the browser: ``$WAREX_CHROMIUM``, one on the PATH, or Playwright's newest.

    ``headless_shell``: prefer Chromium's headless shell, which starts in half the processor time.
    Raises MachineError, with the remedy, if there is none.
    """
    path = environment.get("PATH")
    if named := environment.get("WAREX_CHROMIUM"):
        if program := shutil.which(named, path=path):
            return Path(program)
        raise MachineError(
            f"WAREX_CHROMIUM names {named!r}, which is not a program that can be run; correct it,"
            " or unset it to have WAREX look for one"
        )
    kinds = [(_FULL, _PLAYWRIGHT_FULL_GLOBS), (_SHELLS, _PLAYWRIGHT_SHELL_GLOBS)]
    for names, patterns in reversed(kinds) if headless_shell else kinds:
        for name in names:
            if program := shutil.which(name, path=path):
                return Path(program)
        for pattern in patterns:
            own = [path for path in _playwright_folder(environment).glob(pattern) if _can_run(path)]
            if own:
                return max(own, key=_revision)
    raise MachineError(
        "there is no Chromium on this machine: install your system's chromium package, run"
        f" `playwright install chromium` ({install_command('demo')} brings it), or set"
        " WAREX_CHROMIUM to one"
    )


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _revision(path: Path) -> int:
    """Return Playwright's build number."""
    folder = next(part for part in path.parts if part.startswith(("chromium-", "chromium_")))
    number = folder.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _playwright_folder(environment: Mapping[str, str]) -> Path:
    if named := environment.get("PLAYWRIGHT_BROWSERS_PATH"):
        return Path(named)
    cache = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path(environment.get("HOME", "/nonexistent")) / cache / "ms-playwright"


def spki_flag(ca: "CertificateAuthority") -> str:
    """Return the flag that trusts the CA by its public key."""
    return f"--ignore-certificate-errors-spki-list={ca.spki}"


def root_flags() -> tuple[str, ...]:
    """Return the flags that root needs: Chromium's sandbox does not work for it."""
    return ("--no-sandbox",) if os.geteuid() == 0 else ()


def headless_command(chromium: Path, profile: Path, extra: tuple[str, ...]) -> list[str]:
    """Return the command that runs this Chromium once without a window, on a fresh profile."""
    head = [str(chromium), "--headless", "--disable-gpu", "--no-first-run"]
    return [*head, f"--user-data-dir={profile}", *QUIET_FLAGS, *root_flags(), *extra]
