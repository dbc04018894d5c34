"""Narrowing and sorting a list of products by what stands in a page's address."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from warex_testbed.sites.shop.brand import PriceBand
from warex_testbed.sites.shop.model import Product

SORTS: Mapping[str, str] = {
    "": "Most popular",
    "price": "Price: low to high",
    "price-down": "Price: high to low",
    "rating": "Best rated",
    "name": "Name: A to Z",
}
"""How a list can be sorted: the value of `sort` and its name."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list is narrowed to; an empty text is not a condition."""

    q: str = ""
    maker: str = ""
    tag: str = ""
    price: str = ""
    rating: str = ""
    stock: str = ""
    offer: str = ""
    sort: str = ""

    @classmethod
    def read(cls, query: Mapping[str, str]) -> "Wanted":
        """Read it from a query; an unknown order is the first one."""
        known = {key: query.get(key, "") for key in cls.__dataclass_fields__}
        return cls(**known | {"sort": known["sort"] if known["sort"] in SORTS else ""})

    def but(self, **changes: str) -> str:
        """Return the query of the same list with these changes, beginning with `?`."""
        changed = replace(self, **changes)
        fields = {key: getattr(changed, key) for key in self.__dataclass_fields__}
        return "?" + urlencode({key: value for key, value in fields.items() if value})

    @property
    def narrowed(self) -> bool:
        """Whether anything but the search words and the order narrows the list."""
        return any((self.maker, self.tag, self.price, self.rating, self.stock, self.offer))


def find(products: Iterable[Product], wanted: Wanted, bands: Sequence[PriceBand]) -> list[Product]:
    """Return the products that meet every condition, in the order that is wanted."""
    matching = [product for product in products if _meets(product, wanted, bands)]
    match wanted.sort:
        case "price":
            return sorted(matching, key=lambda product: product.price)
        case "price-down":
            return sorted(matching, key=lambda product: -product.price)
        case "rating":
            return sorted(matching, key=lambda product: -product.rating)
        case "name":
            return sorted(matching, key=lambda product: product.name.lower())
        case _:
            return sorted(matching, key=lambda product: -product.rated)


def _meets(product: Product, wanted: Wanted, bands: Sequence[PriceBand]) -> bool:
    text = " ".join(
        (product.name, product.maker, product.department, product.text, *product.tags)
    ).lower()
    band = next((each for each in bands if each.name == wanted.price), PriceBand(""))
    return (
        all(word in text for word in wanted.q.lower().split())
        and wanted.maker in ("", product.maker)
        and (not wanted.tag or wanted.tag in product.tags)
        and band.at_least <= product.price < band.below
        and (not wanted.rating or product.rating >= 4)
        and (not wanted.stock or product.stock > 0)
        and (not wanted.offer or product.was > 0)
    )


def counted(number: int) -> str:
    """`1 product`, `7 products`."""
    return f"{number} product{'' if number == 1 else 's'}"
