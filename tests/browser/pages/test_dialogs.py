"""Dialogs of the browser itself, in real Chromium."""

from functools import partial

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.pages.scripted import FROZEN, changes, heading, lane_with, page_of
from tests.browser.pages.site import ICON, lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.browser.native_dialog import NativeDialog
from warex.traces import FaultMissed, Witness

pytestmark = pytest.mark.browser

FORM = "<form action=/sent><input name=a value=b><button>Send</button></form>"


def answers(lane: Lane, page: Page) -> list[tuple[str, str, str]]:
    """Return what was answered to dialogs: the report, its detail and the value."""
    for _ in range(200):
        if len(reported_changes(lane)) > 1:
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
        wait_until(
            lambda: (
                [what for what, _ in reported_changes(lane)] == ["shown", "dismissed", "submitted"]
            )
        )
        page.context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "answer", "reported"),
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
def test_a_dialog_is_reported_with_what_was_answered(
    browser: Browser,
    begin: Begin,
    site: Origin,
    fault: NativeDialog,
    answer: str | None,
    reported: tuple[str, str, str],
) -> None:
    with lane_with(begin, site, fault) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        page = context.new_page()
        page.on("dialog", lambda it: it.dismiss() if answer is None else it.accept(answer))
        page.goto(f"https://shop.example/{page_of(site, '', FORM, b'')}")
        if fault.dialog == "beforeunload":
            page.get_by_role("button").click(no_wait_after=True)
        assert answers(lane, page) == [reported]
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
            wait_until(partial(reported_changes, lane))
            page.context.close()
        what, detail = reported_changes(lane)[0]
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
        wait_until(partial(reported_changes, lane))  # Playwright's own scripts count as use.
        page.context.close()
    assert reported_changes(lane)[0][1].startswith("the page was left before anybody had used it")


@pytest.mark.slow
def test_a_dialog_that_a_driver_has_replaced_is_missed(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with lane_with(begin, site, NativeDialog()) as lane:
        context = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True)
        context.add_init_script("window.alert = () => {}")
        context.new_page().goto(f"https://shop.example/{page_of(site, '')}")
        wait_until(partial(reported_changes, lane))
        context.close()
    assert reported_changes(lane)[0][1].startswith("something else stood in the place")
