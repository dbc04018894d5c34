"""What the browser does to a page (storage, windows, dialogs), in real Chromium."""

from contextlib import AbstractContextManager
from functools import partial

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.site import ICON, STRICT, lane_to, opened, said
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.browser.endless_spinner import EndlessSpinner
from warex.faults.browser.native_dialog import NativeDialog
from warex.faults.browser.popup_blocked import PopupBlocked
from warex.faults.browser.storage_failure import StorageFailure
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, Witness

pytestmark = pytest.mark.browser

FROZEN = """for (const it of [Object, Array, Function, Promise, Reflect, Storage, WeakSet, EventTarget,
  IDBFactory, IDBObjectStore, Element, Node, Document, Event, String, URL]) {
  Object.freeze(it.prototype);
  Object.freeze(it);
}"""
TRIES = """const met = [];
const tries = (act) => {
  try { return `${act()}`; } catch (error) { return error.name; }
};"""
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


def page_of(site: Origin, script: str, body: str = "", policy: bytes = STRICT) -> str:
    """Let the site have a page with a script; return the page's name."""
    headers = [(b"Content-Type", b"text/html")]
    headers += [(b"Content-Security-Policy", policy)] if policy else []
    told = "addEventListener('load', () => { document.querySelector('h1').textContent = met; });"
    text = f"<!doctype html>{ICON}<script nonce=a>{TRIES}{script};{told}</script><h1></h1>{body}"
    site.routes["/used"] = Answer(headers=headers, body=text.encode())
    return "used"


def lane_with(begin: Begin, site: Origin, fault: Fault) -> AbstractContextManager[Lane]:
    return lane_to(begin, site, scenario(fault))


def changes(lane: Lane) -> list[tuple[str, str]]:
    """Return what the ledger says of the changes: where, and what is there now."""
    wait_until(partial(lane.events, FaultDelivered))
    return [(it.where, it.after or "") for it in lane.events(FaultDelivered)[0].changes]


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading")).to_have_text(text)


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
        wait_until(partial(said, lane))
        page.context.close()
    assert said(lane) == [("nothing", why or "the page did not use that storage")]
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
        wait_until(partial(said, lane))
        page.context.close()
    # The frame had not been there when the first script asked for it.
    assert lane.events(FaultDelivered) or said(lane)


FORM = "<form action=/sent><input name=a value=b><button>Send</button></form>"


def answers(lane: Lane, page: Page) -> list[tuple[str, str, str]]:
    """Return what was answered to dialogs: the report, its detail and the value."""
    for _ in range(200):
        if len(said(lane)) > 1:
            break
        page.wait_for_timeout(50)  # The driver answers a dialog only while it runs itself.
    return [
        (it.what, it.detail, it.changes[0].after or "" if it.changes else "")
        for it in lane.events(Witness)[1:]
    ]


def test_a_dialog_that_a_driver_dismisses_stops_what_it_asks_about(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/sent?a=b"] = site.routes["/plain"]
    name = page_of(site, FROZEN, FORM, b"")
    with lane_with(begin, site, NativeDialog(dialog="confirm", when="submit")) as lane:
        page = opened(browser, lane, name)
        page.get_by_role("button").click()
        assert answers(lane, page) == [("dismissed", "the form was not sent", "false")]
        assert changes(lane) == [("confirm", "Are you sure that you want to send this?")]
        page.get_by_role("button").click()
        heading(page, "Here")
        wait_until(lambda: [what for what, _ in said(lane)] == ["shown", "dismissed", "submitted"])
        page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "answer", "told"),
    [
        (NativeDialog(), "", ("dismissed", "", "")),
        (NativeDialog(dialog="confirm"), "", ("accepted", "", "true")),
        (NativeDialog(dialog="confirm"), None, ("dismissed", "", "false")),
        (NativeDialog(dialog="prompt"), "Ada", ("accepted", "", "Ada")),
        (NativeDialog(dialog="prompt"), None, ("dismissed", "", "cancelled")),
        (NativeDialog(dialog="print"), "", ("dismissed", "", "")),
        (NativeDialog(dialog="beforeunload"), "", ("accepted", "", "leave")),
        (NativeDialog(dialog="beforeunload"), None, ("dismissed", "", "stay")),
    ],
    ids=lambda it: it.dialog if isinstance(it, NativeDialog) else None,
)
def test_a_dialog_is_told_with_what_was_answered(
    browser: Browser,
    begin: Begin,
    site: Origin,
    fault: NativeDialog,
    answer: str | None,
    told: tuple[str, str, str],
) -> None:
    with lane_with(begin, site, fault) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        page = context.new_page()
        page.on("dialog", lambda it: it.dismiss() if answer is None else it.accept(answer))
        page.goto(f"https://shop.example/{page_of(site, '', FORM, b'')}")
        if fault.dialog == "beforeunload":
            page.get_by_role("button").click(no_wait_after=True)
        assert answers(lane, page) == [told]
        assert changes(lane)[0][0] == fault.dialog
        context.close()


@pytest.mark.slow
def test_where_no_dialog_can_open_the_fault_is_missed_with_its_reason(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    frames = [f"<iframe {it} src=/used></iframe>" for it in ("sandbox='allow-scripts'", "")]
    framed = {"url": "**/used", "resource": ("document",)}
    sandboxed = "the page may open no dialog: it is sandboxed without allow-modals"
    cases: list[tuple[str, str, bytes, str]] = [
        ("used", "", b"sandbox allow-scripts", sandboxed),
        ("around", frames[0], b"", "the page may open no dialog: it is a sandboxed frame"),
        ("around", frames[1], b"", ""),
        (
            "around",
            frames[0].replace("scripts", "scripts allow-same-origin"),
            b"",
            sandboxed,
        ),
    ]
    for name, frame, policy, why in cases:
        page_of(site, "", policy=policy)
        headers = [(b"Content-Type", b"text/html")]
        site.routes["/around"] = Answer(headers=headers, body=f"{ICON}{frame}".encode())
        with lane_to(begin, site, scenario(NativeDialog(), match=framed)) as lane:
            page = opened(browser, lane, name)
            wait_until(partial(said, lane))
            page.context.close()
        what, detail = said(lane)[0]
        assert (what, detail[: len(why)]) == ("nothing" if why else "shown", why)
        assert bool(lane.events(FaultMissed)) == bool(why)


@pytest.mark.slow
def test_a_page_that_nobody_used_is_left_without_a_question(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    leaves = "addEventListener('load', () => setTimeout(() => { location = '/plain'; }, 100))"
    with lane_to(
        begin,
        site,
        scenario(NativeDialog(dialog="beforeunload"), match={"url": "**/used"}),
    ) as lane:
        page = opened(browser, lane, page_of(site, leaves))
        wait_until(partial(said, lane))  # Playwright's own scripts count as use.
        page.context.close()
    assert said(lane)[0][1].startswith("the page was left before anybody had used it")


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


def test_a_page_whose_data_never_come_goes_on_loading_until_it_is_loaded_again(
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
        assert page.get_by_role("status").count() == 0
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
