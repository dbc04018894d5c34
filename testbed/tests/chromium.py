"""The browser of the tests and the screenshots."""

import os
import shutil

from playwright.sync_api import Browser, Playwright

from warex_testbed.server import Testbed

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def launch(playwright: Playwright, bed: Testbed) -> Browser:
    """Start `$WAREX_CHROMIUM`, a Chromium on the PATH, or Playwright's own, for the testbed.

    Use it as a context manager, which closes the browser.
    """
    names = (os.environ.get("WAREX_CHROMIUM", ""), *_NAMES)
    return playwright.chromium.launch(
        executable_path=next(filter(None, map(shutil.which, names)), None),
        args=[
            "--no-sandbox",
            "--disable-quic",
            f"--host-resolver-rules=MAP *.warex.test 127.0.0.1:{bed.port}",
        ],
    )
