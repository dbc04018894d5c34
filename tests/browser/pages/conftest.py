"""A browser for a file of tests, a site of odd pages, and lanes between them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.pages.site import PAGES
from tests.proxy.support.lanes import Begin, beginner
from tests.proxy.support.origin import Origin, served
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import QUIET_FLAGS

# It bounds a hang: a machine may be busy.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            proxy={"server": "http://127.0.0.1:9"},
            args=[
                *QUIET_FLAGS,
                "--disable-quic",
                "--no-sandbox",
                "--ignore-certificate-errors",  # A service worker needs more than the context.
            ],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site() -> Iterator[Origin]:
    with served() as origin:
        origin.routes |= {f"/{name}": page for name, page in PAGES.items()}
        yield origin


@pytest.fixture(scope="module")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Begin]:
    folder = tmp_path_factory.mktemp("lanes")
    authority: CertificateAuthority = ensure_ca(folder / "ca")
    server = Forkserver()
    yield beginner(server, authority, Path(folder))
    server.close()
