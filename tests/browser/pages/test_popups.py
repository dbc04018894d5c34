"""Popups in real Chromium: shown on whatever page it is, closed as a person closes them."""

from functools import partial

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages.site import ICON, PAGES, has_reported, lane_to, opened, reported_changes
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.popups.malicious_popup import MaliciousPopup
from warex.faults.popups.popup import Popup
from warex.traces import FaultDelivered, FaultPlanned, RequestSeen

pytestmark = pytest.mark.browser


def closes(browser: Browser, begin: Begin, site: Origin, name: str) -> None:
    """Show a popup on a page, and close it."""
    with lane_to(begin, site, scenario(Popup())) as lane:
        page = opened(browser, lane, name)
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        wait_until(partial(lane.events, FaultDelivered))
        expect(page.get_by_role("heading", name="Here")).to_be_attached()
        dialog.get_by_role("button").first.click()
        expect(dialog).to_have_count(0)
        wait_until(partial(has_reported, lane, "shown", "dismissed"))
        page.context.close()


def test_a_popup_covers_a_page_until_it_is_closed(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    closes(browser, begin, site, "strict")


@pytest.mark.slow
def test_a_popup_that_is_closed_before_chromium_calls_it_visible_was_shown(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with lane_to(begin, site, scenario(Popup())) as lane:
        page = browser.new_context(proxy={"server": lane.url}, ignore_https_errors=True).new_page()
        # An observer that answers nothing.
        page.add_init_script("IntersectionObserver.prototype.observe = () => {}")
        page.goto("https://shop.example/plain")
        page.get_by_role("dialog").get_by_role("button").first.click()
        wait_until(partial(has_reported, lane, "shown", "dismissed"))
        page.context.close()
    assert len(lane.events(FaultDelivered)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PAGES.keys() - {"strict"}))
def test_a_popup_covers_every_kind_of_page(
    browser: Browser, begin: Begin, site: Origin, name: str
) -> None:
    closes(browser, begin, site, name)


def test_a_popup_opens_in_a_frame_only_where_documents_are_named(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes["/framing"] = Answer(
        headers=[(b"Content-Type", b"text/html")],
        body=f"{ICON}<iframe src=/plain width=800 height=500></iframe>".encode(),
    )
    for match, where in (({}, "page"), ({"url": "**/plain", "resource": ("document",)}, "frame")):
        with lane_to(begin, site, scenario(Popup(), match=match)) as lane:
            page = opened(browser, lane, "framing")
            frame = page.frame_locator("iframe")
            seen = page.get_by_role("dialog") if where == "page" else frame.get_by_role("dialog")
            expect(seen).to_be_visible()
            wait_until(partial(lane.events, FaultDelivered))
            page.context.close()
        assert [it.resource for it in lane.events(RequestSeen)].count("document") == 2
        assert len(lane.events(FaultPlanned)) == 1


def test_a_lure_leads_to_a_site_that_goes_on_and_sees_all(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with lane_to(begin, site, scenario(MaliciousPopup(lure="session"))) as lane:
        page = opened(browser, lane, "strict")
        page.get_by_role("link", name="SIGN IN AGAIN").click()
        expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
        page.get_by_label("Email").fill("ada")
        page.get_by_label("Password").fill("hunter2")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Help").click()
        wait_until(lambda: ("visited", "/help") in reported_changes(lane))
        page.context.close()

    done = reported_changes(lane)
    assert {"shown", "followed", "visited", "clicked", "typed"} == {what for what, _ in done}
    assert {("typed", "user: ada"), ("typed", "password"), ("clicked", "Sign in")} <= set(done)
    assert "hunter2" not in (lane.out / "events.jsonl").read_text()
    assert len(lane.events(FaultDelivered)) == 1


@pytest.mark.slow
def test_a_lure_that_nothing_closes_stays(browser: Browser, begin: Begin, site: Origin) -> None:
    inputs = scenario(MaliciousPopup(lure="bitcoin", closable=False))
    with lane_to(begin, site, inputs) as lane:
        page = opened(browser, lane, "plain")
        dialog = page.get_by_role("dialog", name="Click ACCEPT to claim FREE bitcoin")
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        page.mouse.click(5, 5)
        expect(dialog).to_be_visible()
        expect(dialog.get_by_role("button")).to_have_count(0)
        wait_until(partial(has_reported, lane, "shown"))
        page.context.close()
    assert {what for what, _ in reported_changes(lane)} == {"shown"}
