import json
from typing import Any

import pytest

from warex.exchange import Request, Response
from warex.rewriting.baskets.gone_item import GoneItem
from warex.seeds import KeyedRng

EDIT = GoneItem(
    "replaced", KeyedRng(1, "r"), items=(("/products/7", "7"), ("/p/red-lamp", "red-lamp"))
)


def edited(body: object) -> tuple[Any, list[tuple[str, str]]]:
    active = EDIT.begin(
        Request("GET", "https://shop.test/api/cart"),
        Response(200, {"content-type": "application/json"}),
    )
    assert active is not None
    out = active.body.feed(json.dumps(body).encode()) + active.body.close()
    return json.loads(out), [(it.where, it.before) for it in active.body.changes]


def test_the_rest_of_a_basket_adds_up() -> None:
    lamp = {"id": 1, "product_id": 7, "name": "Lamp", "price": 20.5, "quantity": 2}
    desk = {"id": 7, "product_id": 8, "name": "Desk", "price": 100.0, "quantity": 1}
    body = {
        "items": [lamp, desk],
        "item_count": 3,
        "subtotal": 141.0,
        "shipping": 5,
        "total": 146.0,
    }
    edit, changes = edited(body)

    assert edit == {
        "items": [desk], "item_count": 1, "subtotal": 100.0, "shipping": 5, "total": 105.0,
    }  # fmt: skip
    assert changes[0] == ("/items/0", "Lamp")


@pytest.mark.parametrize(
    "item",
    [
        {"product": {"id": 7}},
        {"slug": "red-lamp"},
        {"url": "https://shop.test/products/7?from=cart"},
        {"id": "7"},
        {"productId": "7", "id": "b2"},
    ],
)
def test_an_item_is_known_by_its_id_or_its_address(item: dict[str, Any]) -> None:
    edit, _ = edited({"lines": [{**item, "name": "Lamp", "price": "$4.00"}], "total": "$4.00"})

    assert edit == {"lines": [], "total": "$0.00"}


@pytest.mark.parametrize(
    "item", [{"id": 8}, {"id": 7, "product_id": 9}, {"product": {"id": 8, "stock": 7}}, {"rank": 7}]
)
def test_another_item_stays(item: dict[str, Any]) -> None:
    body = {"lines": [{**item, "name": "Lamp", "price": "$4.00"}], "total": "$4.00"}

    assert edited(body) == (body, [])


def test_what_does_not_add_up_is_left_alone() -> None:
    body = {"lines": [{"id": 7, "name": "Lamp", "price": 4}], "total": 9}

    assert edited(body) == (body, [])
