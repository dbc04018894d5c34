"""Finds Chromium, and its command line."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

QUIET = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Prevent the browser's own traffic, and traffic that bypasses an HTTP proxy."""


class NoChromium(Exception):
    """No browser can be started; the message says why, and the remedy."""


_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
"""Browsers without a window, which start in half the processor time."""


def find(
    asked: str | None, environment: Mapping[str, str], playwrights_own: str, *, headless: bool
) -> str:
    """Return the path of the browser to start.

    In order: ``asked``, $WAREX_CHROMIUM, with ``headless`` a headless shell, chromium and
    google-chrome on PATH, Playwright's own download. Raises NoChromium if a named browser does not
    exist, or there is none.
    """
    for origin, named in (
        ("--browser", asked),
        ("$WAREX_CHROMIUM", environment.get("WAREX_CHROMIUM")),
    ):
        if named:
            if path := shutil.which(named, path=environment.get("PATH")):
                return path
            raise NoChromium(f"{origin} names {named!r}, which is not a program that can be run.")
    shells: Sequence[str] = _SHELLS if headless else ()
    for name in (*shells, "chromium", "google-chrome"):
        if path := shutil.which(name, path=environment.get("PATH")):
            return path
    if Path(playwrights_own).is_file():
        return playwrights_own
    raise NoChromium(
        "No Chromium was found: set --browser or $WAREX_CHROMIUM, put chromium or google-chrome "
        "on PATH, or run 'playwright install chromium'."
    )


def arguments(extra: Sequence[str]) -> list[str]:
    """Return the browser's command line arguments."""
    # Chromium refuses its sandbox to root.
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return [*QUIET, *as_root, *extra]
