"""What a fresh shop of each brand starts with, read once from `brands/<theme>.toml`."""

import functools
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from warex_testbed.sites.shop.brand import Brand
from warex_testbed.sites.shop.model import Address, Line, Order, Product, Shop

FILES: Mapping[str, str] = {
    "shop.warex.test": "voltline.toml",
    "market.warex.test": "pantry.toml",
    "outfitters.warex.test": "fell.toml",
}
"""The file of each host."""


@functools.cache
def _data(host: str) -> dict[str, Any]:
    text = (Path(__file__).parent / "brands" / FILES[host]).read_text("utf-8")
    return tomllib.loads(text)


@functools.cache
def brand(host: str) -> Brand:
    """Return the brand of a host."""
    return TypeAdapter(Brand).validate_python(_data(host)["brand"])


@functools.cache
def _products(host: str) -> Mapping[int, Product]:
    rows = [row | {"id": number} for number, row in enumerate(_data(host)["product"], start=1)]
    products = TypeAdapter(list[Product]).validate_python(rows)
    return {product.id: product for product in products}


@functools.cache
def _addresses(host: str) -> tuple[Address, ...]:
    return TypeAdapter(tuple[Address, ...]).validate_python(_data(host)["address"])


def _lines(host: str, rows: Iterable[tuple[str, str, int]]) -> tuple[Line, ...]:
    """Return lines at today's prices for products that are given by name."""
    named = {product.name: product for product in _products(host).values()}
    return tuple(
        Line(named[name].id, name, variant, quantity, named[name].cost(variant))
        for name, variant, quantity in rows
    )


@functools.cache
def _orders(host: str) -> tuple[Order, ...]:
    rows = [
        row
        | {
            "lines": _lines(host, row["lines"]),
            "address": _addresses(host)[row.get("address", 1) - 1],
        }
        for row in _data(host)["order"]
    ]
    return TypeAdapter(tuple[Order, ...]).validate_python(rows)


def fresh(host: str) -> Shop:
    """Return a new shop of the host's brand, equal each time."""
    named = {product.name: product.id for product in _products(host).values()}
    return Shop(
        products=_products(host),
        cart=list(_lines(host, _data(host)["cart"])),
        orders={order.number: order for order in _orders(host)},
        addresses=dict(enumerate(_addresses(host), start=1)),
        wishlist=[named[name] for name in _data(host)["wishlist"]],
    )
