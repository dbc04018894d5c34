"""Headless Chromium that trusts the workspace's CA, as it does behind ``warex exec``."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, ProxySettings, sync_playwright

from bench.workspace import Workspace
from warex.agents.reference import chromium
from warex.sandbox.namespace.mount_plan import trusted_database

_DATABASE = ".pki/nssdb"
_NETWORK = "performance.getEntries().filter(it => it.transferSize > 0).map(it => it.name)"


@contextmanager
def trusting_browser(workspace: Workspace, *arguments: str) -> Iterator[Browser]:
    """Start Chromium with its own home folder, whose NSS database trusts the CA."""
    home = workspace.fresh("home")
    place = home / _DATABASE
    made = trusted_database(workspace.ca, place)
    place.mkdir(parents=True)
    for name, content in made.items():
        (place / name).write_bytes(content)
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        browser = playwright.chromium.launch(
            executable_path=chromium.find(None, os.environ, own, headless=False),
            args=chromium.arguments(arguments),
            env={**os.environ, "HOME": str(home)},
        )
        yield browser
        browser.close()


@contextmanager
def fresh_page(browser: Browser, proxy: int) -> Iterator[Page]:
    """Open a page in a new context, through the proxy on a port unless that is 0."""
    with browser.new_context(proxy=through(proxy) if proxy else None) as context:
        yield context.new_page()


def through(proxy: int) -> ProxySettings:
    """Return settings that send all requests, also to loopback, through the proxy on a port."""
    return ProxySettings(server=f"http://127.0.0.1:{proxy}", bypass="<-loopback>")


def loaded(page: Page) -> list[str]:
    """Return the URLs of the page and its parts that were loaded over the network."""
    resources: list[str] = page.evaluate(_NETWORK)
    return resources


def load_milliseconds(page: Page) -> float:
    """Return the milliseconds until the page's load event, by the browser's clock."""
    taken: float = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventStart")
    return taken
