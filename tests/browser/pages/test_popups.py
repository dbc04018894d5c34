"""Popups in real Chromium: shown on whatever page it is, closed as a person closes them."""

from functools import partial

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.pages.site import PAGES, has_said, lane_to, opened
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.faults import Popup
from warex.traces import FaultDelivered

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
