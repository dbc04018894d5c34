import json
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults import FaultState
from warex.faults.world.price_change import PriceChange
from warex.rewriting.baskets.changed_price import ChangedPrice
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

PAGE = {"sec-fetch-dest": "document", "user-agent": "Mozilla/5.0"}
DATA = {"sec-fetch-dest": "empty", "user-agent": "Mozilla/5.0"}


def asked(url: str, headers: dict[str, str] = PAGE) -> Exchange:
    return Exchange("1", Request("GET", url, headers))


def met(
    fault: PriceChange, exchange: Exchange, state: FaultState | None = None
) -> tuple[Rewrite, FaultState]:
    (effect,), state = fault.effects(exchange, state or {}, KeyedRng(1, "rule"))
    assert isinstance(effect, Rewrite)
    return effect, state


def settings(effect: Rewrite) -> dict[str, Any]:
    assert isinstance(effect.edit, InjectedScript)
    inputs = effect.edit.script.split(")(", 1)[1]
    return dict(json.JSONDecoder().raw_decode(inputs)[0])


@pytest.mark.parametrize(
    ("fields", "factor", "amount"),
    [
        ({}, 1_200_000, None),
        ({"factor": 0.9}, 900_000, None),
        ({"amount": 2.5}, 1_000_000, 250),
        ({"amount": -1}, 1_000_000, -100),
    ],
)
def test_a_page_and_data_are_changed_by_the_same(
    fields: dict[str, Any], factor: int, amount: int | None
) -> None:
    fault = PriceChange.model_validate(fields)
    page, state = met(fault, asked("https://shop.test/products/7"))
    data, _ = met(fault, asked("https://shop.test/api/cart", DATA), state)

    assert (settings(page)["factor"], settings(page)["amount"]) == (factor, amount)
    assert settings(page)["isItem"]
    assert isinstance(data.edit, ChangedPrice)
    assert data.edit.pricing.factor * 1_000_000 == factor
    assert (data.edit.pricing.amount or 0) * 100 == (amount or 0)


def test_prices_stay_changed_on_all_pages_from_the_first_hit() -> None:
    fault = PriceChange()
    assert not fault.reaches(asked("https://shop.test/cart"), {})
    _, state = met(fault, asked("https://shop.test/"))

    assert fault.still_applies(asked("https://shop.test/cart"), state)
    assert fault.reaches(asked("https://shop.test/api/cart", DATA), state)
    assert not fault.reaches(asked("https://other.test/cart"), state)
    assert not fault.reaches(asked("https://shop.test/a.png", {"sec-fetch-dest": "image"}), state)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"factor": 1.1, "amount": 2}, "leave out one of the two"),
        ({"factor": None}, "give one"),
        ({"factor": 1}, "every price stays"),
        ({"amount": 0}, "every price stays"),
        ({"factor": 0}, "factor"),
        ({"factor": float("inf")}, "factor"),
        ({"since": "list"}, "since"),
    ],
)
def test_no_change_or_two_changes_are_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        PriceChange.model_validate(fields)
