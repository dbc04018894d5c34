from datetime import date

import pytest

from tests.visit import answered, asked
from warex_testbed.sites.shop.base_view import HERE, BaseView, long_date
from warex_testbed.sites.shop.seed import FILES, brand, fresh
from warex_testbed.web import static


def test_a_day_is_written_out() -> None:
    assert long_date(date(2026, 6, 1)) == "1 June 2026"


def test_the_cart_is_called_as_the_brand_calls_it_and_counted() -> None:
    labels = [BaseView(brand(host), fresh(host)).cart_label() for host in FILES]
    assert labels == ["Cart, 0 items", "Basket, 3 items", "Bag, 0 items"]


@pytest.mark.parametrize("host", FILES)
def test_a_page_with_all_it_loads_is_light(host: str) -> None:
    shown = brand(host)
    page = BaseView(shown, fresh(host)).page("account.html", asked("/"), orders=[])
    loaded = (*shown.scripts, "shop.css", f"{shown.theme}.css", f"{shown.theme}.svg")
    files = sum(len(static(HERE)[name].body) for name in loaded)
    assert len(page.body) + files < 60_000


def test_only_what_is_static_may_be_kept() -> None:
    assert all(answered(file).cacheable for file in static(HERE).values())
    host = "shop.warex.test"
    page = BaseView(brand(host), fresh(host)).page("addresses.html", asked("/addresses"))
    assert not answered(page).cacheable
