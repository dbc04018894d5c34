"""Makes a harness's own Playwright start the trial's browser.

Playwright starts only its own build, which it downloads. Scripts at the paths that it expects
replace that build, so that the harness needs no download and no change.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from warex.benchmarks.installation.virtualenv import Virtualenv
from warex.errors import MachineError
from warex.sandbox.env_mode.browser_shims import write_wrapper

VARIABLE = "PLAYWRIGHT_BROWSERS_PATH"
"""Variable of Playwright's browsers folder, for any version and language."""

_BROWSERS = "playwright/driver/package/browsers.json"

# The paths of all Playwright versions.
_PLACES = {
    "chromium": ("chromium-{}/chrome-linux/chrome", "chromium-{}/chrome-linux64/chrome"),
    "chromium-headless-shell": (
        "chromium_headless_shell-{}/chrome-linux/headless_shell",
        "chromium_headless_shell-{}/chrome-headless-shell-linux64/chrome-headless-shell",
    ),
}


def browsers_for(
    made: Virtualenv, folder: Path, browser: Path, arguments: Sequence[str] = ()
) -> dict[str, str]:
    """Write scripts that start ``browser`` to a folder; return the variables that name it.

    ``arguments`` follow the harness's. Raises MachineError if the environment has no Playwright.
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
            f" environment again: `warex benchmarks setup` with --dir {made.folder}"
        ) from None
    return [
        place.format(revisions[name])
        for name, places in _PLACES.items()
        if name in revisions
        for place in places
    ]
