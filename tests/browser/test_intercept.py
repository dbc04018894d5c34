"""Browsers as people start them themselves, behind `warex.intercept`."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.async_api import async_playwright
from playwright.sync_api import sync_playwright
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

import warex
from tests.proxy.support.origin import Answer, Origin, served
from warex.sandbox.chromium import find_chromium

pytestmark = pytest.mark.browser

SITE = "https://shop.example"
HTML = [(b"Content-Type", b"text/html")]
FIRST_500 = {"rules": [{"name": "first", "trigger": {"first": 1}, "fault": {"kind": "http_error"}}]}


@pytest.fixture(scope="module", autouse=True)
def _own_ca(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAREX_CA_DIR", str(tmp_path_factory.mktemp("authority") / "ca"))
        yield


@pytest.fixture(scope="module")
def site() -> Iterator[Origin]:
    with served() as origin:
        origin.routes["/"] = Answer(headers=HTML, body=b"<!doctype html><title>Open</title>")
        yield origin


def intercepted(site: Origin) -> warex.Interceptor:
    return warex.intercept(FIRST_500, maps={SITE: f"http://127.0.0.1:{site.port}"})


def test_playwright_meets_the_fault_under_a_name_and_on_localhost(site: Origin) -> None:
    with intercepted(site) as proxy, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_chromium()), **proxy.playwright
        )
        page = browser.new_page()
        hit, healed = page.goto(f"{SITE}/"), page.goto(f"{SITE}/")
        title = page.title()
        local = page.goto(f"http://localhost:{site.port}/")
        browser.close()

    assert hit is not None
    assert healed is not None
    assert local is not None
    assert (hit.status, healed.status, title, local.status) == (500, 200, "Open", 200)
    assert [injection.state for injection in proxy.ledger] == ["delivered"]
    # A page on localhost is seen as well: Chromium would send it past the proxy.
    assert f"http://localhost:{site.port}/" in [request.url for request in proxy.requests]


@pytest.mark.slow
async def test_playwright_async_takes_the_same_keywords(site: Origin) -> None:
    async with intercepted(site) as proxy, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_chromium()), **proxy.playwright
        )
        page = await browser.new_page()
        hit = await page.goto(f"{SITE}/")
        await browser.close()

    assert hit is not None
    assert hit.status == 500
    assert [injection.state for injection in proxy.ledger] == ["delivered"]


@pytest.mark.slow
def test_selenium_meets_the_fault_under_a_name_and_on_localhost(site: Origin) -> None:
    chromedriver = shutil.which("chromedriver")
    assert chromedriver, "install chromium-driver"
    with intercepted(site) as proxy:
        options = proxy.selenium_options
        options.add_argument("--headless=new")
        options.binary_location = str(find_chromium())
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        try:
            driver.get(f"{SITE}/")
            hit = driver.title
            driver.get(f"{SITE}/")
            healed = driver.title
            driver.get(f"http://localhost:{site.port}/")
        finally:
            driver.quit()

    assert hit != "Open"
    assert healed == "Open"
    assert [injection.state for injection in proxy.ledger] == ["delivered"]
    assert f"http://localhost:{site.port}/" in [request.url for request in proxy.requests]
