import pytest

from warex.exchange import Request
from warex.faults.world.items import Item, item_of


def ask(url: str) -> Request:
    return Request("GET", url)


@pytest.mark.parametrize(
    ("url", "path", "name"),
    [
        ("https://shop.test/products/7", "/products/7", "7"),
        ("https://shop.test/products/7/reviews?page=2", "/products/7", "7"),
        ("https://shop.test/en/p/red-lamp", "/en/p/red-lamp", "red-lamp"),
        ("https://shop.test/dp/B00ABCDE12/ref=x", "/dp/B00ABCDE12", "B00ABCDE12"),
        ("https://shop.test/api/items/7.json", "/api/items/7.json", "7"),
        ("https://shop.test/red-lamp-12345.html", "/red-lamp-12345.html", "red-lamp-12345"),
        ("https://shop.test/product.php?id=7&a=b", "/product.php", "7"),
        ("https://jobs.test/jobs/2041", "/jobs/2041", "2041"),
    ],
)
def test_an_item_is_recognised_by_the_address_of_its_page(url: str, path: str, name: str) -> None:
    item = item_of(ask(url))

    assert item is not None
    assert (item.path, item.name) == (path, name)
    assert item.is_page_of(ask(url))


@pytest.mark.parametrize(
    "path",
    ["/", "/products", "/products/new", "/cart", "/departments/3", "/search?q=lamp&id=", "/about"],
)
def test_other_pages_have_no_item(path: str) -> None:
    assert item_of(ask(f"https://shop.test{path}")) is None


@pytest.mark.parametrize(
    ("url", "is_named"),
    [
        ("https://shop.test/products/7", True),
        ("https://shop.test/products/7/quick", True),
        ("https://shop.test/api/products/7", True),
        ("https://api.shop.test/v1/items/7", True),
        ("https://shop.test/api/product?id=7", True),
        ("https://shop.test/_next/data/a1/products/7.json", True),
        ("https://shop.test/products/77", False),
        ("https://shop.test/products", False),
        ("https://shop.test/orders/7", False),
        ("https://shop.test/api/reviews?page=7", False),
        ("https://other.test/products/7", False),
        ("https://market.shop.test/products/7", False),
    ],
)
def test_one_that_has_a_plain_number_is_named_as_an_item(url: str, is_named: bool) -> None:
    item = Item("shop.test", "/products/7", "7")

    assert item.is_asked_for(ask(url)) is is_named


def test_a_unique_name_is_recognised_anywhere() -> None:
    item = Item("shop.test", "/p/red-lamp-9", "red-lamp-9")

    assert item.is_asked_for(ask("https://shop.test/api/v2/red-lamp-9"))
    assert item.is_asked_for(ask("https://shop.test/cart/add?sku=red-lamp-9"))
    assert not item.is_asked_for(ask("https://shop.test/api/v2/red-lamp-95"))


def test_pages_with_different_queries_are_two() -> None:
    item = item_of(ask("https://shop.test/product.php?id=7"))

    assert item is not None
    assert item.is_asked_for(ask("https://shop.test/product.php?id=7&tab=2"))
    assert not item.is_asked_for(ask("https://shop.test/product.php?id=8"))
