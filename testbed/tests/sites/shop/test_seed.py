import re
from collections import Counter
from pathlib import Path

import pytest

from warex_testbed.sites.shop import seed
from warex_testbed.sites.shop.seed import FILES, brand, fresh

HOSTS = pytest.mark.parametrize("host", FILES)
ART = Path(seed.__file__).parent / "templates/art.html"


@HOSTS
def test_every_name_is_distinguished_and_every_department_is_filled(host: str) -> None:
    products = fresh(host).products.values()
    assert 15 <= len(products) <= 30
    assert max(Counter(product.name for product in products).values()) == 1
    departments = {product.department for product in products}
    assert departments == {each.name for each in brand(host).departments}


@HOSTS
def test_every_picture_is_drawn(host: str) -> None:
    drawn = set(re.findall(r"^  '(\w+)': '", ART.read_text("utf-8"), re.MULTILINE))
    assert {product.art for product in fresh(host).products.values()} <= drawn
    assert {each.art for each in brand(host).departments} <= drawn


@HOSTS
def test_options_are_reported_in_full(host: str) -> None:
    for product in fresh(host).products.values():
        choices = {choice for values in product.options.values() for choice in values}
        assert set(product.extra) <= choices, product.name
        for variant in product.sold_out:
            assert set(variant.split(" / ")) <= choices, product.name
        assert not set(product.options) & {"product", "quantity"}
        assert set(product.tags) <= set(brand(host).tags)
        assert product.was == 0 or product.was > product.price


@HOSTS
def test_orders_of_every_kind_are_there_to_be_worked_on(host: str) -> None:
    orders = fresh(host).orders.values()
    assert {"processing", "delivered"} <= {order.status for order in orders}
    assert {order.returnable for order in orders} == {True, False}


def test_the_brands_have_the_same_wordings_in_words_of_their_own() -> None:
    brands = [brand(host) for host in FILES]
    for key in ("words", "done"):
        first, second, third = (getattr(each, key) for each in brands)
        assert set(first) == set(second) == set(third)
        # In a template, words.items would be the method of the mapping.
        assert not [each for each in first if hasattr({}, each)]
    assert len({each.words["add"] for each in brands}) == 3


def test_a_fresh_shop_is_not_the_last_one() -> None:
    used = fresh("market.warex.test")
    used.cart.clear()
    used.wishlist.clear()
    used.cancel(7731)
    assert fresh("market.warex.test") != used
    assert fresh("market.warex.test") == fresh("market.warex.test")
