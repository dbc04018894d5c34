from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from warex.sandbox.chromium import find_chromium

# It bounds a hang: a machine may be busy.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=find_chromium(headless_shell=True), args=["--no-sandbox"]
        )
        yield launched
        launched.close()
