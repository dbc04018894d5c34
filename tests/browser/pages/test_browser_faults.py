"""What the browser does to a page: its storage, its windows, its loading; in real Chromium."""

from functools import partial

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages.scripted import FROZEN, changes, heading, lane_with, page_of
from tests.browser.pages.site import STRICT, lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.browser.endless_spinner import EndlessSpinner
from warex.faults.browser.popup_blocked import PopupBlocked
from warex.faults.browser.storage_failure import StorageFailure
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke

pytestmark = pytest.mark.browser

USES_STORAGE = """met.push(tries(() => localStorage.setItem("a", 1)));
met.push(tries(() => { sessionStorage.a = "1"; return sessionStorage.a; }));
met.push(tries(() => { const opened = indexedDB.open("store", 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore("all");
  opened.onsuccess = () => {
    const transaction = opened.result.transaction("all", "readwrite");
    transaction.objectStore("all").put("x", "first");
    transaction.objectStore("all").put("x", "second");
    transaction.onabort = () => { document.title = transaction.error.name; };
    transaction.oncomplete = () => { document.title = "stored"; };
  };
}));"""


@pytest.mark.slow
def test_storage_that_is_denied_throws_at_the_first_script_of_the_page(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    name = page_of(site, FROZEN + USES_STORAGE)
    with lane_with(begin, site, StorageFailure()) as lane:
        page = opened(browser, lane, name)
        heading(page, "SecurityError,SecurityError,SecurityError")
        assert changes(lane)[0] == ("localStorage", "SecurityError")
        page.context.close()


@pytest.mark.slow
def test_storage_that_is_full_can_be_read_and_not_written(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    reads = """met.push(tries(() => localStorage.getItem("none")), localStorage.length,
      tries(() => Storage.prototype.getItem.call(localStorage, "none")),
      tries(() => Object.keys(localStorage).length), localStorage instanceof Storage)"""
    name = page_of(site, USES_STORAGE + reads)
    with lane_with(begin, site, StorageFailure(how="full")) as lane:
        page = opened(browser, lane, name)
        expect(page).to_have_title("QuotaExceededError")
        heading(page, "QuotaExceededError,QuotaExceededError,undefined,null,0,null,0,true")
        assert changes(lane)[0] == ("localStorage.setItem", "QuotaExceededError")
        page.context.close()
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "policy", "why"),
    [
        ("", STRICT, "the page did not use that storage"),
        ("", b"sandbox allow-scripts", "the browser gives this page no such storage anyhow"),
        ("met.push(localStorage.length)", STRICT, ""),
    ],
)
def test_storage_that_no_page_uses_fails_for_nobody(
    browser: Browser, begin: Begin, site: Origin, script: str, policy: bytes, why: str
) -> None:
    name = page_of(site, script, policy=policy)
    fault = StorageFailure(how="full") if script else StorageFailure(area="local")
    with lane_with(begin, site, fault) as lane:
        page = opened(browser, lane, name)
        wait_until(partial(reported_changes, lane))
        page.context.close()
    assert reported_changes(lane) == [("nothing", why or "the page did not use that storage")]
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


OPENS = """addEventListener("load", () => {
  document.querySelector("button").onclick = () => { met.push(window.open("/sent", "_blank"));
    document.querySelector("h1").textContent = met.map(String); };
});"""
WINDOWS = """<iframe name=inner></iframe><button>Open</button>
<a href=/sent target=_blank>Out</a> <a href=/plain target=inner>In</a>"""


def test_a_window_that_the_page_asks_for_does_not_come(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    name = page_of(site, FROZEN + OPENS, WINDOWS, b"")
    with lane_with(begin, site, PopupBlocked()) as lane:
        page = opened(browser, lane, name)
        page.get_by_role("button").click()
        heading(page, "null")
        assert changes(lane) == [("window", "blocked")]
        assert lane.events(FaultDelivered)[0].changes[0].before == "https://shop.example/sent"
        assert len(page.context.pages) == 1
        page.context.close()


@pytest.mark.slow
def test_links_to_new_windows_do_nothing_where_they_are_blocked_too(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/sent"] = site.routes["/plain"]
    name = page_of(site, "window.open('/plain', 'inner')", WINDOWS, b"")
    with lane_with(begin, site, PopupBlocked(links=True)) as lane:
        page = opened(browser, lane, name)
        page.get_by_role("link", name="In").click()
        heading_of_frame = page.frame_locator("iframe").get_by_role("heading")
        expect(heading_of_frame).to_have_text("Here")
        page.get_by_role("link", name="Out").click()
        assert changes(lane) == [("window", "blocked")]
        assert len(page.context.pages) == 1
        page.context.close()
    with lane_with(begin, site, PopupBlocked()) as lane:
        page = opened(browser, lane, name)
        with page.context.expect_page() as popup:
            page.get_by_role("link", name="Out").click()
        assert popup.value.url == "https://shop.example/sent"
        wait_until(partial(reported_changes, lane))
        page.context.close()
    # The frame had not been there when the first script asked for it.
    assert lane.events(FaultDelivered) or reported_changes(lane)


LOADS = """addEventListener("load", () => {
  const show = (text) => { document.querySelector("#list").textContent = text; };
  const stop = new AbortController();
  document.querySelector("#stop").onclick = () => stop.abort();
  HOW.then(show, (error) => show(error.name));
});"""
BY_FETCH = "fetch('/data', {signal: stop.signal}).then((it) => it.text())"
BY_XHR = """new Promise((then) => { const it = new XMLHttpRequest(); it.onload = () =>
  then(it.responseText); it.open("GET", "/data"); it.setRequestHeader("X-A", "b"); it.send(); })"""
STATE = "<p id=list class=page-loading>Getting your orders</p><button id=stop>Stop</button>"


def loading_page(site: Origin, how: str, body: str = STATE) -> str:
    site.routes["/data"] = Answer(headers=[(b"Content-Type", b"text/plain")], body=b"Orders")
    return page_of(site, FROZEN + LOADS.replace("HOW", how), body, b"")


def test_a_page_without_its_data_loads_until_it_is_reloaded(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    name = loading_page(site, BY_FETCH)
    with lane_to(begin, site, scenario(EndlessSpinner(), Trigger(first=1))) as lane:
        page = opened(browser, lane, name)
        assert changes(lane) == [
            ("request", "without an answer"),
            ("loading", "Getting your orders"),
        ]
        assert lane.events(FaultDelivered)[0].changes[0].before == "https://shop.example/data"
        expect(page.get_by_role("status")).to_have_count(0)
        page.reload()
        expect(page.locator("#list")).to_have_text("Orders")
        page.context.close()


@pytest.mark.slow
def test_a_page_that_loads_without_an_end_answers_to_what_is_done_in_it(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    several = f"Promise.all([{', '.join([BY_FETCH] * 9)}])"
    by_hand = ".then(0, () => fetch('/data').then((it) => it.text()))"
    again = scenario(EndlessSpinner(reload=False), Trigger(first=1))
    with lane_to(begin, site, again) as lane:
        cases = ((BY_FETCH, "AbortError"), (several + by_hand, "Orders"))
        for number, (how, left) in enumerate(cases, 1):
            page = opened(browser, lane, loading_page(site, how))
            wait_until(lambda number=number: len(lane.events(FaultDelivered)) == number)  # type: ignore[misc]
            page.locator("#stop").click()
            expect(page.locator("#list")).to_have_text(left)
            page.context.close()
    assert not lane.events(HarnessBroke)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "body", "requests"),
    [
        (BY_XHR, "<p id=list></p><button id=stop></button><button class=b>Go</button>", 1),
        ("Promise.resolve('here')", STATE, 0),
    ],
    ids=["no state of its own", "no data"],
)
def test_a_page_without_a_loading_state_is_covered_by_one_in_its_look(
    browser: Browser, begin: Begin, site: Origin, how: str, body: str, requests: int
) -> None:
    with lane_with(begin, site, EndlessSpinner()) as lane:
        page = opened(browser, lane, loading_page(site, how, body))
        cover = page.get_by_role("status")
        expect(cover).to_have_text("Loading\u2026")
        noted = changes(lane)
        assert [where for where, _ in noted] == [*["request"] * requests, "text"]
        box = cover.bounding_box()
        assert box is not None
        assert box["width"] >= 1280
        page.context.close()
    assert not lane.events(HarnessBroke)
