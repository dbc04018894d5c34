"""Has a harness's own Playwright start the browser that the trial's canary was fetched with.

Playwright starts only the build that its version was made with, and downloads it. A folder of small
programs under the paths that it expects stands in for that, so that a harness needs no download and
no change, and its browser knows the proxy.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warex.benchmarks.installation.virtualenv import Virtualenv
from warex.errors import MachineError
from warex.sandbox.env_mode.browser_shims import write_wrapper

VARIABLE = "PLAYWRIGHT_BROWSERS_PATH"
"""Tells Playwright, of any version and language, where its browsers are."""

_BROWSERS = "playwright/driver/package/browsers.json"

# The places changed with the versions; one too many does no harm.
_PLACES = {
    "chromium": (
        "chromium-{}/chrome-linux/chrome",
        "chromium-{}/chrome-linux64/chrome",
    ),
    "chromium-headless-shell": (
        "chromium_headless_shell-{}/chrome-linux/headless_shell",
        "chromium_headless_shell-{}/chrome-headless-shell-linux64/chrome-headless-shell",
    ),
}


def browsers_for(
    made: Virtualenv, folder: Path, browser: Path, arguments: Sequence[str] = ()
) -> dict[str, str]:
    """Fill a folder with what starts ``browser``; return the variables that name it.

    ``arguments`` are put behind those of the harness, so that they win. Raises MachineError where
    the environment holds no Playwright.
    """
    for place in _places(made):
        write_wrapper(folder / place, browser, arguments)
    return {VARIABLE: str(folder)}


def _places(made: Virtualenv) -> list[str]:
    path = made.site_packages / _BROWSERS
    try:
        known: list[dict[str, Any]] = json.loads(path.read_bytes())["browsers"]
        revisions = {each["name"]: each["revision"] for each in known}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise MachineError(
            f"{path} does not say which browser Playwright starts ({error!r}); make the"
            f" environment anew: `warex benchmarks setup` with --dir {made.folder}"
        ) from None
    return [
        place.format(revisions[name])
        for name, places in _PLACES.items()
        if name in revisions
        for place in places
    ]
