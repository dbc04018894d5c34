import html
import json
import re

import pytest

from tests.visit import call, get, post, visit
from warex_testbed.sites.shop import ShopSite, make
from warex_testbed.sites.shop.seed import FILES, brand

ADDRESS = {"name": "B", "street": "C 1", "city": "D"}


def buy(site: ShopSite, host: str) -> dict[str, str]:
    """Go through the checkout and return the last form, as it was sent."""
    shown = brand(host)
    fields = ADDRESS | {
        "postcode": shown.postcode_example,
        "delivery": shown.deliveries[-1].name,
        "payment": next(each.name for each in shown.payments if not each.card),
    }
    for number in range(1, len(shown.checkout) + 1):
        page = get(site, f"/checkout/{number}")
        hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)
        form = fields | {key: html.unescape(value) for key, value in hidden}
        answer = post(site, f"/checkout/{number}", **form)
        assert answer.status == 303
    return form


@pytest.mark.parametrize("host", FILES)
def test_a_checkout_ends_in_an_order_and_an_empty_cart(host: str) -> None:
    site = make(host)
    before = site.state()
    product = "15" if host == "outfitters.warex.test" else "3"
    call(site, "POST", "/api/cart", product=product, quantity=2)
    items = site.state()["cart"]["items"]
    buy(site, host)
    after = site.state()
    assert len(after["orders"]) == len(before["orders"]) + 1
    assert after["orders"][0] | ADDRESS == after["orders"][0]
    assert after["orders"][0]["items"] == items
    assert after["orders"][0]["status"] == "processing"
    assert after["cart"] == {"items": [], "voucher": ""}
    thanks = get(site, f"/checkout/done/{after['orders'][0]['number']}")
    assert brand(host).order_name(after["orders"][0]["number"]) in thanks


@pytest.mark.parametrize("host", FILES)
def test_a_form_sent_twice_is_two_orders_but_a_reload_is_not(host: str) -> None:
    site = make(host)
    call(site, "POST", "/api/cart", product="15" if "outfitters" in host else "3")
    form = buy(site, host)
    first = site.state()["orders"][0]
    get(site, f"/checkout/done/{first['number']}")
    assert site.state()["orders"][0] == first
    again = post(site, f"/checkout/{len(brand(host).checkout)}", **form)
    second = site.state()["orders"][0]
    assert again.location == f"/checkout/done/{second['number']}"
    assert second == first | {"number": first["number"] + 1}


def test_a_voucher_counts_from_its_minimum_and_goes_with_the_order() -> None:
    site = make("shop.warex.test")
    post(site, "/cart", product="22", quantity="1")
    assert b"valid from \xe2\x82\xac100.00" in post(site, "/cart/voucher", code="VOLT10").body
    assert post(site, "/cart/voucher", code="NONE").status == 422
    post(site, "/cart", product="10", quantity="1")
    assert post(site, "/cart/voucher", code="volt10").status == 303
    buy(site, "shop.warex.test")
    order = site.state()["orders"][0]
    assert (order["voucher"], order["total"]) == ("VOLT10", "573.41")


def test_no_page_of_the_checkout_can_be_left_out() -> None:
    site = make("shop.warex.test")
    assert visit(site.app, "GET", "/checkout").location == "/cart"
    post(site, "/cart", product="22", quantity="1")
    assert visit(site.app, "GET", "/checkout").location == "/checkout/1"
    assert visit(site.app, "GET", "/checkout/4").location == "/checkout/1"
    assert post(site, "/checkout/4", items='[[22, "", 1]]').location == "/checkout/1"
    assert visit(site.app, "GET", "/checkout/5").status == 404
    assert len(site.state()["orders"]) == 4


def test_a_wrong_form_comes_back_with_what_was_typed() -> None:
    site = make("market.warex.test")
    answer = post(site, "/checkout/1", name="Zoe", postcode="123", delivery="Click and collect")
    assert answer.status == 422
    text = answer.body.decode()
    assert 'value="Zoe"' in text
    for says in ("Please enter a street.", "like BS1 4QA", "Choose how you want to pay."):
        assert says in text
    assert len(site.state()["orders"]) == 4


@pytest.mark.parametrize("items", ["", "[]", "{}", "[[1]]", '[[3, "", 0]]', '[["x", "", 1]]'])
def test_an_order_of_nothing_is_refused(items: str) -> None:
    site = make("market.warex.test")
    buy(site, "market.warex.test")
    fields = ADDRESS | {"postcode": "BS1 4QA", "payment": "Pay on delivery", "items": items}
    answer = post(site, "/checkout/1", **fields, delivery="Click and collect")
    assert answer.status == 422
    assert len(site.state()["orders"]) == 5


def test_the_cart_can_be_changed_by_forms_and_by_scripts() -> None:
    site = make("market.warex.test")
    post(site, "/cart/lines/1", quantity="5")
    assert json.loads(call(site, "POST", "/api/cart/2", quantity="1").body) == {
        "location": "/cart?done=changed"
    }
    assert [each["quantity"] for each in site.state()["cart"]["items"]] == [5, 1]
    assert post(site, "/cart/lines/1", quantity="many").status == 422
    assert call(site, "POST", "/api/cart/1", quantity="1.5").status == 422
    assert call(site, "DELETE", "/api/cart/1").status == 200
    assert call(site, "DELETE", "/api/cart/2").status == 404
    assert post(site, "/cart/lines/0/remove").status == 404
    post(site, "/cart/lines/1/remove")
    assert site.state()["cart"]["items"] == []


def test_a_choice_that_is_missing_is_asked_for() -> None:
    site = make("outfitters.warex.test")
    answer = post(site, "/cart", product="1", Color="Rust", quantity="1")
    assert answer.status == 422
    assert b"Please choose a size." in answer.body
    assert call(site, "POST", "/api/cart", product=1, Color="Rust", Size="L").status == 422
    assert call(site, "POST", "/api/cart", product="nothing").status == 404
    assert site.state()["cart"]["items"] == []
