import pytest

from tests.visit import get, post, visit
from warex_testbed.sites.shop import ShopSite, make


@pytest.fixture
def site() -> ShopSite:
    return make("outfitters.warex.test")


def test_an_order_offers_what_can_be_done_with_it(site: ShopSite) -> None:
    assert "Cancel purchase" in get(site, "/orders/5208")
    for number in (5190, 4876):
        assert "Cancel purchase" not in get(site, f"/orders/{number}")
        assert "Start a return" not in get(site, f"/orders/{number}")
    assert "Start a return" in get(site, "/orders/5133")


def test_a_cancelled_order_stays_and_is_cancelled_once(site: ShopSite) -> None:
    assert post(site, "/orders/5208/cancel").location == "/orders/5208?done=cancelled"
    assert site.state()["orders"][0]["status"] == "cancelled"
    assert post(site, "/orders/5208/cancel").status == 422
    assert post(site, "/orders/1/cancel").status == 404


def test_a_return_names_item_reason_and_refund(site: ShopSite) -> None:
    fields = {"item": "2", "reason": "Too small", "refund": "Exchange"}
    for key in fields:
        assert post(site, "/orders/5133/return", **fields | {key: "9"}).status == 422
    assert site.state()["returns"] == []
    assert post(site, "/orders/5133/return", **fields).location == "/orders/5133?done=returned"
    assert site.state()["returns"] == [
        {
            "order": 5133,
            "product": "Beck rain hat",
            "variant": "",
            "reason": "Too small",
            "refund": "Exchange",
        }
    ]
    assert 'aria-label="Return started: Beck rain hat"' in get(site, "/orders/5133")
    assert post(site, "/orders/5133/return", **fields).status == 422
    late = visit(site.app, "GET", "/orders/4876/return")
    assert late.location == "/orders/4876"


def test_addresses_are_added_changed_preferred_and_removed(site: ShopSite) -> None:
    new = {"name": "A", "street": "1 Pier", "city": "Astoria, OR", "postcode": "97103"}
    assert post(site, "/addresses", **new).location == "/addresses?done=address"
    assert post(site, "/addresses/1", **new | {"street": "2 Pier"}).status == 303
    assert post(site, "/addresses/3/default").status == 303
    assert post(site, "/addresses/2/remove").status == 303
    saved = site.state()["addresses"]
    assert [(each["street"], each["default"]) for each in saved] == [
        ("2 Pier", False),
        ("1 Pier", True),
    ]
    assert post(site, "/addresses", **new | {"postcode": "A"}).status == 422
    for path in ("/addresses/9", "/addresses/9/default", "/addresses/9/remove"):
        assert post(site, path, **new).status == 404


def test_the_default_address_cannot_be_removed(site: ShopSite) -> None:
    post(site, "/addresses/1/remove")
    assert len(site.state()["addresses"]) == 2
