import json
from decimal import Decimal

import pytest

from warex.rewriting.baskets.json_basket import JsonBasket, totals_alone
from warex.rewriting.json_body.spans import parse_spans


def baskets(body: object) -> list[JsonBasket]:
    return list(JsonBasket.all_in(parse_spans(json.dumps(body))))


@pytest.mark.parametrize(
    "body",
    [
        {"items": [{"name": "Lamp", "price": 2.5, "quantity": 2}], "total": 5.0},
        {"items": [{"title": "Lamp", "line_total": 5}], "shipping": 1, "subtotal": 5, "total": 6},
        {"cart": {"lines": [{"name": "Lamp", "price": "$5.00"}]}, "total": "$5.00"},
        {"lines": [{"name": "Lamp", "price": 7}], "summary": {"discount": 2, "sum": 7, "total": 5}},
    ],
)  # fmt: skip
def test_a_basket_is_a_list_beside_its_sum(body: object) -> None:
    (result,) = baskets(body)

    assert [line.title for line in result.lines] == ["Lamp"]
    assert sum((line.sum for line in result.lines), Decimal(0)) in [
        it.value for _, it in result.totals
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"items": [{"name": "Lamp", "price": 2.5}], "total": 9.0},
        {"items": [{"name": "Lamp", "price": 5}], "subtotal": 5, "total": 9},
        {"items": [{"name": "Lamp", "price": 5}]},
        {"items": [{"name": "Lamp", "price": 5}, {"name": "Note"}], "total": 5},
        {"items": [], "total": 0},
        [{"name": "Lamp", "price": 5}],
    ],
)
def test_a_list_that_does_not_add_up_is_not_a_basket(body: object) -> None:
    assert baskets(body) == []


def test_a_total_may_stand_alone() -> None:
    root = parse_spans('{"pieces": 2, "total": "$24.00", "total_items": 3}')

    assert [(it.step, money.value) for it, money in totals_alone(root)] == [("total", Decimal(24))]
    assert list(totals_alone(parse_spans('{"items": [], "total": "$24.00"}'))) == []
