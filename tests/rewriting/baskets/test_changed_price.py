import json
from decimal import Decimal
from typing import Any

import pytest

from warex.exchange import Request, Response
from warex.rewriting.baskets.changed_price import ChangedPrice, Place, Pricing
from warex.seeds import KeyedRng

FIFTH = Pricing(Decimal("1.2"))


def edited(
    body: object, pricing: Pricing = FIFTH, since: Place = "detail", path: str = "/api/cart"
) -> Any:
    edit = ChangedPrice("replaced", KeyedRng(1, "r"), pricing=pricing, since=since)
    active = edit.begin(
        Request("GET", f"https://shop.test{path}"),
        Response(200, {"content-type": "application/json"}),
    )
    assert active is not None
    return json.loads(active.body.feed(json.dumps(body).encode()) + active.body.close())


def test_lines_and_totals_of_a_basket_agree() -> None:
    lamp = {"id": 1, "name": "Lamp", "unit_price": 3.33, "quantity": 3, "line_total": 9.99}
    desk = {"id": 2, "name": "Desk", "unit_price": 100.0, "quantity": 1, "line_total": 100.0}
    body = {"items": [lamp, desk], "subtotal": 109.99, "shipping": 5.0, "total": 114.99}

    assert edited(body) == {
        "items": [
            {**lamp, "unit_price": 4.0, "line_total": 12.0},
            {**desk, "unit_price": 120.0, "line_total": 120.0},
        ],
        "subtotal": 132.0, "shipping": 5.0, "total": 137.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("price", "total", "new"),
    [
        ("$24.00", "$24.00", ("$28.80", "$28.80")),
        ("1.234,50 \u20ac", "1.234,50 \u20ac", ("1.481,40 \u20ac", "1.481,40 \u20ac")),
        ("\u00a51,200", "\u00a51,200", ("\u00a51,440", "\u00a51,440")),
        ("24 kr", "24 kr", ("29 kr", "29 kr")),
        (2405, 2405, (2886, 2886)),
        (24, 24, (29, 29)),
    ],
)
def test_an_amount_is_written_as_the_site_writes_it(
    price: object, total: object, new: tuple[object, object]
) -> None:
    edit = edited({"lines": [{"title": "Pot", "price": price}], "total": total})

    assert (edit["lines"][0]["price"], edit["total"]) == new


@pytest.mark.parametrize(
    ("prices", "new"),
    [
        ((24.5, 49.0), (27.0, 54.0)),
        ((2450, 4900), (2700, 5400)),
        (("$24.50", "$49.00"), ("$27.00", "$54.00")),
    ],
)
def test_an_amount_is_added_to_each_piece(prices: tuple[Any, Any], new: tuple[Any, Any]) -> None:
    body = {"items": [{"name": "Pot", "price": prices[0], "qty": 2}], "total": prices[1]}
    edit = edited(body, Pricing(amount=Decimal("2.5")))

    assert (edit["items"][0]["price"], edit["total"]) == new


@pytest.mark.parametrize(
    ("since", "path", "is_changed"),
    [
        ("detail", "/api/products/7", True),
        ("basket", "/api/products/7", False),
        ("checkout", "/api/products/7", False),
    ],
)
def test_an_item_of_its_own_is_changed_from_its_page_on(
    since: Place, path: str, is_changed: bool
) -> None:
    body = {"product": {"id": 7, "name": "Lamp", "price": 10.0, "old_price": 15.0},
            "near": [{"name": "Desk", "price": 9.0}]}  # fmt: skip
    edit = edited(body, since=since, path=path)

    assert edit["product"]["price"] == (12.0 if is_changed else 10.0)
    assert edit["product"]["old_price"] == 15.0
    assert edit["near"] == body["near"]


@pytest.mark.parametrize(
    ("since", "path", "total"),
    [
        ("basket", "/api/cart", 12.0), ("basket", "/api/checkout", 12.0),
        ("checkout", "/api/cart", 10.0), ("checkout", "/api/checkout", 12.0),
    ],
)  # fmt: skip
def test_a_basket_is_changed_from_its_place_on(since: Place, path: str, total: float) -> None:
    body = {"items": [{"name": "Lamp", "price": 10.0}], "total": 10.0}

    assert edited(body, since=since, path=path)["total"] == total


def test_a_total_that_comes_without_its_items_agrees_too() -> None:
    body = {"pieces": 2, "total": "$24.00"}

    assert edited(body)["total"] == "$28.80"
    assert edited(body, Pricing(amount=Decimal(1)))["total"] == "$26.00"


@pytest.mark.parametrize(
    "body",
    [
        [{"name": "Lamp", "price": 10.0}, {"name": "Desk", "price": 9.0}],
        {"items": [{"name": "Lamp", "price": 10.0}], "total": 90.0},
        {"results": [{"name": "Lamp", "price": 10.0}], "count": 1},
        {"price": 10.0},
    ],
)
def test_lists_and_what_does_not_add_up_stay(body: object) -> None:
    assert edited(body, path="/api/products") == body


def test_a_price_does_not_fall_below_nothing() -> None:
    edit = edited({"id": 1, "name": "Pin", "price": 0.5}, Pricing(amount=Decimal(-2)))

    assert edit["price"] == 0
