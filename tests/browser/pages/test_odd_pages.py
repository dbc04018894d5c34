"""Pages that come in ways of their own: from a service worker, piece by piece, without loading."""

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.site import ICON, has_reported, lane_to, opened
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, Seen
from warex.faults import Fault
from warex.faults.popups.popup import Popup
from warex.faults.variation.relabel import Relabel
from warex.sandbox.chromium import QUIET_FLAGS, find_chromium
from warex.traces import FaultDelivered, FaultPlanned

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HTML = [(b"Content-Type", b"text/html")]


def html(body: str) -> Answer:
    return Answer(headers=HTML, body=f"<!doctype html><title>t</title>{ICON}{body}".encode())


def closes(page: Page) -> None:
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button").first.click()
    expect(dialog).to_have_count(0)


ROUTED = """<main id=app><h1>One</h1><button id=go>Save</button></main><script>
let page = 1;
const draw = () => { app.innerHTML = `<h1>Page ${page}</h1><button id=go>Save</button>`; };
document.addEventListener("click", (event) => {
  if (!event.target.closest("#go")) return;
  history.pushState({}, "", "/routed/" + ++page);
  draw();
});
addEventListener("popstate", () => { page -= 1; draw(); });
</script>"""


def test_a_popup_comes_back_on_a_page_that_routes_by_itself(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/routed"] = html(ROUTED)
    fault = Popup(after=0.2, every=0.3, times=3)
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, "routed")
        for number in (2, 3):
            closes(page)
            page.locator("#go").click()
            expect(page.get_by_role("heading", name=f"Page {number}")).to_be_visible()
        closes(page)
        page.go_back()
        expect(page.get_by_role("heading", name="Page 2")).to_be_visible()
        wait_until(partial(has_reported, lane, "shown", "dismissed"))
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.context.close()
    assert len(lane.events(FaultPlanned)) == 1


@pytest.fixture
def with_cache(browser: Browser) -> Iterator[Browser]:
    """Give a browser that keeps pages that are left, as a person's does and Playwright's not."""
    retained = browser.browser_type.launch(
        executable_path=str(find_chromium()),
        proxy={"server": "http://127.0.0.1:9"},
        args=[*QUIET_FLAGS, "--disable-quic", "--no-sandbox"],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield retained
    retained.close()


def test_a_page_that_the_browser_kept_comes_back_with_its_popup_closed(
    with_cache: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/first"] = html("<h1>First</h1><a href=/second>On</a>")
    site.routes["/second"] = html("<h1>Second</h1>")
    with lane_to(begin, site, scenario(Popup(every=0.3, times=2))) as lane:
        page = opened(with_cache, lane, "first")
        closes(page)
        closes(page)
        page.evaluate("window.kept = true")
        page.get_by_role("link", name="On").click()
        expect(page.get_by_role("heading", name="Second")).to_be_visible()
        closes(page)
        page.go_back(wait_until="commit")
        expect(page.get_by_role("heading", name="First")).to_be_visible()
        assert page.evaluate("window.kept")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.context.close()
    assert len(lane.events(FaultPlanned)) == 2


WORKER = """addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.respondWith(
  caches.match(event.request).then((found) => found || fetch(event.request))));"""


@pytest.mark.parametrize("fault", [Popup(), Relabel(strength=1)], ids=lambda it: it.kind)
def test_a_page_that_a_service_worker_brings_is_changed(
    browser: Browser, begin: Begin, site: Origin, fault: Fault
) -> None:
    site.routes["/worked"] = html(
        "<h1>Here</h1><button>Save</button>"
        "<script>navigator.serviceWorker.register('/worker.js')</script>"
    )
    site.routes["/worker.js"] = Answer(
        headers=[(b"Content-Type", b"text/javascript")], body=WORKER.encode()
    )
    maps = (f"http://shop.localhost=http://127.0.0.1:{site.port}",)
    with begin(scenario=scenario(fault), maps=maps) as lane:
        context = browser.new_context(proxy={"server": lane.url, "bypass": "<-loopback>"})
        page = context.new_page()
        page.goto("http://shop.localhost/worked")
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        wait_until(lambda: len(lane.events(FaultDelivered)) == 1)
        page.reload()
        assert page.evaluate("navigator.serviceWorker.controller !== null")
        wait_until(lambda: len(lane.events(FaultDelivered)) == 2)
        if fault.kind == "popup":
            closes(page)
        page.context.close()


def test_a_page_that_comes_piece_by_piece_is_shown_as_it_comes(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    async def answer(seen: Seen, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
        for number in range(4):
            writer.write(
                f"{ICON if not number else ''}<h1>Part {number}</h1>".encode() + b" " * 1500
            )
            await writer.drain()
            await asyncio.sleep(0.4)
        writer.close()

    site.routes["/pieces"] = answer
    with lane_to(begin, site, scenario(Popup())) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        page.goto("https://shop.example/pieces", wait_until="commit")
        expect(page.get_by_role("heading", name="Part 0")).to_be_visible()
        expect(page.get_by_role("heading", name="Part 3")).to_have_count(0)
        closes(page)
        expect(page.get_by_role("heading", name="Part 3")).to_have_count(1)
        page.context.close()
