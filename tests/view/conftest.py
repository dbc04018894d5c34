from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from warex.sandbox.chromium import find_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=find_chromium(headless_shell=True), args=["--no-sandbox"]
        )
        yield launched
        launched.close()
