"""Popups in real Chromium: shown on whatever page it is, closed as a person closes them."""

from functools import partial

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages.site import ICON, PAGES, has_said, lane_to, opened
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Popup
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
