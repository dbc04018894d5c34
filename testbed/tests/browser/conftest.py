"""A testbed, and pages of a browser that finds all its sites."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.chromium import launch
from tests.verifier import ask
from warex_testbed.server import Testbed

# It bounds a hang: a machine may be busy.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def bed() -> Iterator[Testbed]:
    with Testbed() as running:
        yield running


@pytest.fixture(scope="module")
def browser(bed: Testbed) -> Iterator[Browser]:
    with sync_playwright() as playwright, launch(playwright, bed) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, bed: Testbed) -> Iterator[Page]:
    ask(bed, "/reset", "POST")
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(30_000)
    yield context.new_page()
    context.close()
