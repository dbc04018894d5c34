"""Popups in real Chromium: shown on whatever page it is, closed as a person closes them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.proxy.support.lanes import Begin, Lane, beginner, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, served
from warex.faults import Popup
from warex.proxy.ca import CertificateAuthority, ensure_ca
from warex.proxy.config import HostMap
from warex.proxy.forkserver import Forkserver
from warex.sandbox.chromium import QUIET, find_chromium
from warex.traces import FaultDelivered, Witness

pytestmark = pytest.mark.browser

ICON = "<link rel=icon href='data:,'>"
STRICT = (
    b"default-src 'none'; script-src 'nonce-a' 'strict-dynamic';"
    b" require-trusted-types-for 'script'; trusted-types none"
)
PAGES = {
    "plain": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=f"<!doctype html><title>t</title>{ICON}<h1>Here</h1>".encode(),
    ),
    "strict": Answer(
        headers=[(b"Content-Type", b"text/html"), (b"Content-Security-Policy", STRICT)],
        body=(
            "<head><meta http-equiv=Content-Security-Policy content=\"connect-src 'none'\">"
            f"{ICON}<body><h1>Here</h1>"
        ).encode(),
    ),
    "wide": Answer(
        headers=[(b"Content-Type", b"text/html; charset=utf-16le")],
        body=f"<html>{ICON}<h1>Here</h1>".encode("utf-16-le"),
    ),
    "xml": Answer(
        headers=[(b"Content-Type", b"application/xhtml+xml")],
        body=(
            b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title>t</title>"
            b"<link rel='icon' href='data:,'/></head><body><h1>Here</h1></body></html>"
        ),
    ),
    "redrawn": Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=(
            f"{ICON}<div id=app></div><script>setInterval(() => "
            "{ document.body.innerHTML = '<h1>Here</h1>' }, 50)</script>"
        ).encode(),
    ),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_chromium()),
            proxy={"server": "http://127.0.0.1:9"},
            args=[*QUIET, "--disable-quic", "--no-sandbox"],
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


def opened(browser: Browser, lane: Lane, name: str) -> Page:
    context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.goto(f"https://shop.example/{name}")
    return page


def has_said(lane: Lane, *wanted: str) -> bool:
    return [it.what for it in lane.events(Witness)] == list(wanted)


def closes(browser: Browser, begin: Begin, site: Origin, name: str) -> None:
    """Show a popup on a page, and close it."""
    maps = (HostMap.parse(f"https://shop.example=http://127.0.0.1:{site.port}"),)
    with begin(scenario=scenario(Popup()), maps=maps) as lane:
        page = opened(browser, lane, name)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        wait_until(partial(lane.events, FaultDelivered))
        expect(page.get_by_role("heading", name="Here")).to_be_attached()
        dialog.get_by_role("button").first.click()
        expect(dialog).to_have_count(0)
        wait_until(partial(has_said, lane, "shown", "dismissed"))
        page.context.close()


def test_a_popup_stands_over_a_page_until_it_is_closed(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    closes(browser, begin, site, "strict")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"strict"}))
def test_a_popup_stands_over_every_kind_of_page(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    closes(browser, begin, site, name)
