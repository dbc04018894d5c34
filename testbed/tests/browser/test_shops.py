"""What the scripts of the shops carry out, and what is left without them, in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.verifier import ask
from warex_testbed.server import Testbed

pytestmark = [pytest.mark.slow, pytest.mark.browser]

VOLTLINE, PANTRY, FELL = (f"http://{name}.warex.test" for name in ("shop", "market", "outfitters"))


def _cart(bed: Testbed, address: str) -> list[dict[str, Any]]:
    host = address.removeprefix("http://")
    items: list[dict[str, Any]] = ask(bed, f"/state?host={host}")[host]["cart"]["items"]
    return items


def test_a_filter_narrows_the_page_and_back_shows_all(
    page: Page,
) -> None:
    page.goto(f"{VOLTLINE}/departments/1")
    page.evaluate("window.here = true")
    page.get_by_role("radio", name="Kinetik", exact=True).check()
    expect(page.get_by_role("status", name="3 products", exact=True)).to_be_visible()
    page.get_by_role("checkbox", name="4 stars and more", exact=True).check()
    expect(page.get_by_role("status", name="2 products", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{VOLTLINE}/departments/1?maker=Kinetik&rating=4")
    page.go_back()
    expect(page.get_by_role("status", name="3 products", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("status", name="7 products", exact=True)).to_be_visible()
    assert page.evaluate("window.here")


def test_a_list_that_cannot_be_narrowed_stays_and_says_so(page: Page) -> None:
    page.goto(f"{VOLTLINE}/departments/1")
    page.route("**/*part=results*", lambda route: route.fulfill(status=503))
    page.get_by_role("radio", name="Kinetik", exact=True).check()
    alert = page.get_by_role("alert", name="This could not be loaded. Please try again.")
    expect(alert).to_be_visible()
    expect(page.get_by_role("status", name="7 products", exact=True)).to_be_visible()
    expect(page).to_have_url(f"{VOLTLINE}/departments/1")


def test_what_could_not_be_put_in_the_basket_can_be_tried_again(page: Page, bed: Testbed) -> None:
    page.goto(PANTRY)
    page.route("**/api/cart", lambda route: route.abort(), times=1)
    put = page.get_by_role("button", name="Put Bananas in basket", exact=True)
    before = _cart(bed, PANTRY)
    put.click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert _cart(bed, PANTRY) == before
    put.click()
    expect(page.get_by_role("link", name="Basket, 4 items", exact=True)).to_be_visible()
    assert _cart(bed, PANTRY)[-1] == {"product": "Bananas", "variant": "", "quantity": 1}


def test_without_scripts_forms_still_buy_and_buttons_do_nothing(page: Page, bed: Testbed) -> None:
    page.route("**/*.js", lambda route: route.abort())
    page.goto(PANTRY)
    before = _cart(bed, PANTRY)
    page.get_by_role("button", name="Put Bananas in basket", exact=True).click()
    page.goto(f"{PANTRY}/cart")
    page.get_by_role("button", name="Take out Decaf coffee", exact=True).click()
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    assert _cart(bed, PANTRY) == before
    page.goto(f"{FELL}/products/12")
    page.get_by_role("tab", name="Q&A (1)", exact=True).click()
    expect(page).to_have_url(f"{FELL}/products/12")
    page.goto(f"{VOLTLINE}/departments/6")
    page.get_by_role("button", name="Quick view of Bolt 65 charger", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Bolt 65 charger, €34.90", exact=True).click()
    page.get_by_role("button", name="Add to cart", exact=True).click()
    expect(page.get_by_role("status", name="Added to your cart", exact=True)).to_be_visible()
    assert _cart(bed, VOLTLINE) == [{"product": "Bolt 65 charger", "variant": "", "quantity": 1}]
