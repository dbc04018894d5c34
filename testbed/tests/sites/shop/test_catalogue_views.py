import re

import pytest

from tests.visit import get, post
from warex_testbed.sites.shop import make
from warex_testbed.sites.shop.seed import FILES

LISTS = ("/", "/departments/1", "/departments/4", "/offers", "/search", "/search?q=o&sort=price")


@pytest.mark.parametrize("host", FILES)
@pytest.mark.parametrize("target", LISTS)
def test_a_product_is_on_a_page_once(host: str, target: str) -> None:
    names = re.findall(r'<a href="/products/\d+" aria-label="([^"]*)"', get(make(host), target))
    assert names
    assert len(names) == len(set(names))


def test_a_script_gets_only_the_part_it_swaps() -> None:
    site = make("shop.warex.test")
    page, part = (get(site, f"/departments/1?maker=Sonora{tail}") for tail in ("", "&part=results"))
    assert "<html" not in part
    assert part.strip() in page
    assert 'aria-label="4 products"' in part
    tab = get(make("outfitters.warex.test"), "/products/1/reviews?part=tab")
    assert "<html" not in tab
    assert "Four days of rain" in tab


def test_a_list_says_how_it_was_narrowed_and_sorted() -> None:
    html = get(make("market.warex.test"), "/departments/3?tag=Vegan&sort=price")
    assert 'aria-label="2 products, price: low to high"' in html
    assert html.index("Soya drink") < html.index("Oat drink")
    assert "Whole milk" not in html


def test_a_search_without_results_says_so() -> None:
    html = get(make("shop.warex.test"), "/search?q=%3Cb%3Ezebra")
    assert "Nothing found" in html
    assert "<b>zebra" not in html


def test_a_review_is_shown_first_and_kept() -> None:
    site = make("outfitters.warex.test")
    answer = post(site, "/products/5/reviews", stars="2", title="Hm", text="<i>itchy</i>")
    assert answer.location == "/products/5/reviews?done=reviewed"
    html = get(site, answer.location)
    assert html.index("Hm") < html.index("I live in it")
    assert "&lt;i&gt;itchy" in html
    assert site.state()["reviews"] == [
        {"product": "Bracken fleece", "stars": 2, "title": "Hm", "text": "<i>itchy</i>"}
    ]
    wrong = post(site, "/products/5/reviews", stars="2", text="kept")
    assert wrong.status == 422
    assert b"Give your review a title" in wrong.body
    assert b">kept<" in wrong.body


def test_a_question_is_shown_without_an_answer() -> None:
    site = make("market.warex.test")
    answer = post(site, "/products/6/questions", text="Any nuts?")
    assert "We are asking the grocer." in get(site, answer.location or "")
    assert site.state()["questions"] == [{"product": "Sourdough loaf", "text": "Any nuts?"}]
    assert post(site, "/products/6/questions", text="").status == 422


def test_a_wish_is_kept_once_until_it_is_removed() -> None:
    site = make("shop.warex.test")
    for _ in range(2):
        assert post(site, "/products/1/wish").location == "/products/1?done=wished"
    assert [each["product"] for each in site.state()["wishlist"]] == [
        "Lumen 11 tablet",
        "Aria Studio headphones",
    ]
    post(site, "/wishlist/1/remove")
    post(site, "/wishlist/1/remove")
    assert len(site.state()["wishlist"]) == 1
