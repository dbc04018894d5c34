from warex_testbed.sites.shop.brand import PriceBand
from warex_testbed.sites.shop.catalogue import Wanted, counted, find
from warex_testbed.sites.shop.model import Product

BANDS = (PriceBand("Cheap", below=1000), PriceBand("Dear", at_least=1000))


def product(name: str, price: int, **fields: object) -> Product:
    known = {"maker": "M", "department": "D", "art": "jar", "tint": "#000", "text": ""}
    return Product(id=price, name=name, price=price, **known | fields)  # type: ignore[arg-type]


SHELF = [
    product("Red jar", 999, rated=1, rating=3.9, tags=("Vegan",)),
    product("Blue jar", 1000, rated=9, rating=4.5, was=1200, stock=0),
    product("Tin", 400, rated=5, rating=4.0, maker="N"),
]


def names(**query: str) -> list[str]:
    return [each.name for each in find(SHELF, Wanted.read(query), BANDS)]


def test_each_filter_keeps_what_it_says() -> None:
    assert names(q="JAR blue") == ["Blue jar"]
    assert names(maker="N") == ["Tin"]
    assert names(tag="Vegan") == ["Red jar"]
    assert names(price="Dear") == ["Blue jar"]
    assert names(price="Cheap", sort="price") == ["Tin", "Red jar"]
    assert names(rating="4") == ["Blue jar", "Tin"]
    assert names(stock="1") == ["Tin", "Red jar"]
    assert names(offer="1") == ["Blue jar"]


def test_each_order_is_what_it_is_called() -> None:
    assert names() == ["Blue jar", "Tin", "Red jar"]
    assert names(sort="price") == ["Tin", "Red jar", "Blue jar"]
    assert names(sort="price-down") == ["Blue jar", "Red jar", "Tin"]
    assert names(sort="rating") == ["Blue jar", "Tin", "Red jar"]
    assert names(sort="name") == ["Blue jar", "Red jar", "Tin"]
    assert names(sort="colour") == names()


def test_a_link_keeps_the_other_filters() -> None:
    wanted = Wanted.read({"q": "a b", "tag": "Vegan", "part": "results"})
    assert wanted.but(sort="price") == "?q=a+b&tag=Vegan&sort=price"
    assert wanted.but(tag="", q="") == "?"


def test_one_product_is_no_products() -> None:
    assert (counted(1), counted(2)) == ("1 product", "2 products")
