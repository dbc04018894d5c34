"""Changed sites in real Chromium: other to look at, and working as before."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.pages.interface import PAGES, is_shown
from tests.browser.pages.site import lane_to, opened
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Origin
from warex.faults import Fault, FeatureFlag, LayoutShift, NewFeature, Relabel, Restyle, Translate
from warex.traces import FaultMissed, Witness

pytestmark = pytest.mark.browser


@contextmanager
def met(
    browser: Browser, begin: Begin, site: Origin, fault: Fault, name: str = "interface"
) -> Iterator[tuple[Page, Lane]]:
    """Open a page that is changed, and wait until it is."""
    site.routes |= {f"/{it}": page for it, page in PAGES.items()}
    with lane_to(begin, site, scenario(fault)) as lane:
        page = opened(browser, lane, name)
        is_shown(lane)
        yield page, lane
        page.context.close()


def test_relabelled_buttons_do_what_they_did_and_so_do_those_drawn_later(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Relabel(strength=1)) as (page, _):
        save, links = page.locator("#keep"), page.locator("nav a")
        assert "Messages" not in links.nth(1).inner_text()
        assert links.nth(1).inner_text().endswith(" (3)")
        assert save.inner_text() in {"KEEP", "STORE CHANGES"}
        save.click()
        expect(page.locator("#told")).to_have_text("clicks 1")
        page.locator("#draw").click()
        page.locator("#drawn button").click()
        expect(page.locator("#told")).to_have_text("clicks 2")
        assert page.locator("#drawn button").inner_text() in {"Erase", "Throw away"}
        assert page.locator("td").nth(1).inner_text() == "Save"


def test_a_page_without_anything_to_change_says_so(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    site.routes |= {f"/{it}": page for it, page in PAGES.items()}
    with lane_to(begin, site, scenario(Relabel(strength=1))) as lane:
        page = opened(browser, lane, "silent")
        wait_until(lambda: [it.what for it in lane.events(Witness)] == ["nothing"])
        page.context.close()

    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


def test_a_restyled_page_looks_other_and_works_as_before_under_its_policy(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Restyle(strength=1)) as (page, _):
        radius = page.locator("#keep").evaluate("it => getComputedStyle(it).borderRadius")
        assert radius in {"0px", "20px"}
        page.locator("#keep").click()
        expect(page.locator("#told")).to_have_text("clicks 1")


def test_what_was_looked_at_is_somewhere_else_after_a_shift(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, LayoutShift(strength=1)) as (page, _):
        expect(page.get_by_role("note")).to_have_count(3)
        box = page.get_by_role("heading", name="Here").bounding_box()
        assert box is not None
        assert box["y"] > 120
        page.locator("#keep").click()
        expect(page.locator("#told")).to_have_text("clicks 1")


def test_what_is_new_goes_with_a_click_and_stays_away(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, NewFeature(strength=1)) as (page, lane):
        asides = page.locator("aside")
        expect(asides).to_have_count(3)
        for _ in range(3):
            asides.first.get_by_role("button").click()
        page.locator("#draw").click()
        expect(asides).to_have_count(0)
        wait_until(lambda: "dismissed" in [it.what for it in lane.events(Witness)])


def test_an_action_behind_a_flag_does_what_it_did_one_click_later(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, FeatureFlag(strength=1)) as (page, _):
        expect(page.locator("nav > a:visible")).to_have_count(1)
        entry = page.locator("nav details").get_by_role("link", name="Help", exact=True)
        expect(entry).to_be_hidden()
        page.locator("nav summary").click()
        entry.click()
        expect(page.locator("#told")).to_have_text("clicks 1")


def test_a_translated_page_says_its_language_and_works_as_before(
    browser: Browser, begin: Begin, site: Origin
) -> None:
    with met(browser, begin, site, Translate(strength=1, language="de")) as (page, _):
        expect(page.locator("html")).to_have_attribute("lang", "de")
        expect(page.get_by_role("link", name="Nachrichten (3)")).to_be_visible()
        page.get_by_role("button", name="SPEICHERN").click()
        expect(page.locator("#told")).to_have_text("clicks 1")
