import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from warex.sandbox.chromium import find_chromium


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this run's benchmark environments lie: ``harness.made(name, environments)``."""
    base = tmp_path_factory.getbasetemp()
    # All processes of a run share them.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "environments"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def page() -> Iterator[Page]:
    """Give a browser of the test's own, which reads pictures."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=str(find_chromium()), args=["--no-sandbox"]
        )
        yield browser.new_page()
        browser.close()
