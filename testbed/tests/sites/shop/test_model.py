import pytest

from warex_testbed.sites.shop.model import TODAY, Refused, Shop, decimal
from warex_testbed.sites.shop.seed import fresh


@pytest.fixture
def shop() -> Shop:
    return fresh("shop.warex.test")


def number(shop: Shop, name: str) -> int:
    return next(each.id for each in shop.products.values() if each.name == name)


def test_today_is_a_wednesday() -> None:
    assert TODAY.weekday() == 2


def test_cents_are_written_with_two_digits() -> None:
    assert (decimal(1299), decimal(5)) == ("12.99", "0.05")


def test_a_choice_adds_to_the_price(shop: Shop) -> None:
    laptop = shop.products[number(shop, "Folio 14 laptop")]
    assert laptop.cost("1 TB / Silver") - laptop.cost("512 GB / Silver") == 15000


def test_every_option_must_be_chosen_and_be_there(shop: Shop) -> None:
    laptop = shop.products[number(shop, "Folio 14 laptop")]
    assert laptop.variant({"Storage": "1 TB", "Colour": "Silver"}) == "1 TB / Silver"
    with pytest.raises(Refused, match="choose a colour"):
        laptop.variant({"Storage": "1 TB", "Colour": "Pink"})
    with pytest.raises(Refused, match="1 TB / Ink is sold out"):
        laptop.variant({"Storage": "1 TB", "Colour": "Ink"})


def test_a_choice_that_is_sold_out_rules_out_every_variant_with_it() -> None:
    shop = fresh("outfitters.warex.test")
    boots = shop.products[number(shop, "Ridgeway boots")]
    assert not boots.available("Black / 11")
    assert boots.available("Black / 10")


def test_the_same_variant_is_one_line_and_another_is_another(shop: Shop) -> None:
    for variant in ("Black", "Sky", "Black"):
        shop.add(number(shop, "Aria Lite headphones"), variant, 1)
    assert [(line.variant, line.quantity) for line in shop.cart] == [("Black", 2), ("Sky", 1)]
    assert shop.pieces == 3


def test_orders_are_limited_by_the_stock(shop: Shop) -> None:
    soundbar = number(shop, "Stage 2.1 soundbar")
    shop.add(soundbar, "", 2)
    with pytest.raises(Refused, match="Only 3"):
        shop.add(soundbar, "", 2)
    with pytest.raises(Refused, match="from 1 to 99"):
        shop.add(soundbar, "", -1)
    with pytest.raises(Refused, match="sold out"):
        shop.add(number(shop, "Pebble M1 Pro mouse"), "", 1)
    assert shop.pieces == 2


def test_a_line_that_does_not_exist_cannot_be_changed(shop: Shop) -> None:
    for index in (-1, 0):
        with pytest.raises(KeyError):
            shop.set_quantity(index, 0)


def test_only_what_is_being_prepared_can_be_cancelled(shop: Shop) -> None:
    assert shop.cancel(10482).status == "cancelled"
    for order in (10482, 10467, 10391):
        with pytest.raises(Refused):
            shop.cancel(order)


def test_an_item_goes_back_once_and_within_thirty_days(shop: Shop) -> None:
    shop.send_back(10391, 0, "It is faulty", "Store credit")
    for order, index in ((10391, 0), (10391, 2), (10391, -1), (10120, 0), (10467, 0)):
        with pytest.raises(Refused):
            shop.send_back(order, index, "It is faulty", "Store credit")
    assert len(shop.returns) == 1
