import json
from typing import Any

import pytest

from warex.exchange import Request, Response
from warex.rewriting.baskets.added_item import added_item
from warex.seeds import KeyedRng

EDIT = added_item({"title": "Care plan", "price": "12.90", "identity": "90412"}, KeyedRng(1, "r"))


def edited(body: object) -> Any:
    active = EDIT.begin(
        Request("GET", "https://shop.test/api/cart"),
        Response(200, {"content-type": "application/json"}),
    )
    assert active is not None
    out = active.body.feed(json.dumps(body).encode()) + active.body.close()
    return json.loads(out)


def test_a_basket_has_a_further_item_and_every_total_agrees() -> None:
    line = {"id": 7, "product": {"id": 3, "name": "Kettle"}, "unit_price": 24.0, "quantity": 2}
    edit = edited({
        "cart": {
            "items": [{**line, "line_total": 48.0, "image": "/k.png"}],
            "item_count": 1, "subtotal": 48.0, "shipping": 5.0, "total": 53.0,
        }
    })["cart"]  # fmt: skip

    assert edit["items"][1] == {
        "id": 90412, "product": {"id": 90412, "name": "Care plan"}, "unit_price": 12.9,
        "quantity": 1, "line_total": 12.9, "image": "",
    }  # fmt: skip
    assert (edit["item_count"], edit["subtotal"], edit["total"]) == (2, 60.9, 65.9)


@pytest.mark.parametrize(
    ("price", "total", "put", "sum_"),
    [
        ("$24.00", "$24.00", "$12.90", "$36.90"),
        ("1.234,00 \u20ac", "1.234,00 \u20ac", "12,90 \u20ac", "1.246,90 \u20ac"),
        (2400, 2400, 1290, 3690),
        (24, 24, 13, 37),
        ("24.00", "24.00", "12.90", "36.90"),
    ],
)
def test_an_amount_is_written_as_the_site_writes_it(
    price: object, total: object, put: object, sum_: object
) -> None:
    edit = edited({"lines": [{"title": "Pot", "price": price}], "total": total})

    assert (edit["lines"][1]["price"], edit["total"]) == (put, sum_)


def test_a_total_that_comes_without_its_items_agrees_too() -> None:
    body = {"label": "Cart, 2 items", "pieces": 2, "total": "$24.00"}

    assert edited(body) == {**body, "total": "$36.90"}


@pytest.mark.parametrize(
    "body",
    [
        {"items": [], "total": 0},
        {"items": [{"name": "Pot", "price": 24.0}], "total": 99.0},
        {"items": [{"name": "Pot", "price": 24.0}]},
        {"items": [{"name": "Pot"}], "total": 2},
        {"items": [{"name": "Care plan", "price": 12.9}], "total": 12.9},
        {"items": [{"name": "Pot", "price": 24.0}], "subtotal": 24.0, "total": 31.0},
        {"total": "$0.00", "pieces": 0},
        {"total": 5, "page": 1},
        [1, 2],
        "text",
    ],
)
def test_what_is_not_a_basket_or_does_not_add_up_stays(body: object) -> None:
    assert edited(body) == body
