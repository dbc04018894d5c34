import json

import pytest

from warex.effects import Effect, Reply, Rewrite
from warex.exchange import Exchange, Request, SiteLook
from warex.faults import FaultState
from warex.faults.world.item_gone import ItemGone
from warex.rewriting.base import ValueChange
from warex.rewriting.baskets.gone_item import GoneItem
from warex.seeds import KeyedRng

PAGE = {"sec-fetch-dest": "document", "user-agent": "Mozilla/5.0"}
DATA = {"sec-fetch-dest": "empty", "user-agent": "Mozilla/5.0"}


def asked(path: str, headers: dict[str, str] = PAGE, method: str = "GET") -> Exchange:
    look = SiteLook(name="Laden", language="de", ground="#fffdf0", ink="#221100")
    return Exchange("1", Request(method, f"https://shop.test{path}", headers), look=look)


def met(
    exchange: Exchange, state: FaultState | None = None, fault: ItemGone | None = None
) -> tuple[Effect, FaultState]:
    (effect,), state = (fault or ItemGone()).effects(exchange, state or {}, KeyedRng(1, "rule"))
    return effect, state


@pytest.mark.parametrize("status", [404, 410, 200])
def test_a_missing_items_page_has_the_sites_language_and_look(status: int) -> None:
    effect, _ = met(asked("/products/7"), fault=ItemGone.model_validate({"status": status}))

    assert isinstance(effect, Reply)
    assert effect.status == status
    assert b"nicht mehr" in effect.body
    assert b"#fffdf0" in effect.body
    assert effect.changes == (ValueChange("item", "/products/7", None),)


@pytest.mark.parametrize(("status", "of_data"), [(404, 404), (410, 410), (200, 404)])
def test_data_of_it_is_an_error_in_json(status: int, of_data: int) -> None:
    fault = ItemGone.model_validate({"status": status})
    effect, _ = met(asked("/api/products/7", DATA), fault=fault)

    assert isinstance(effect, Reply)
    assert effect.status == of_data
    assert isinstance(json.loads(effect.body), dict)


@pytest.mark.parametrize(
    ("path", "headers", "method", "reached"),
    [
        ("/products/7", PAGE, "GET", True),
        ("/products/7/wish", PAGE, "POST", True),
        ("/api/products/7", DATA, "GET", True),
        ("/cart/items/7", DATA, "PUT", True),
        ("/products/8", PAGE, "GET", False),
        ("/api/products/8", DATA, "GET", False),
        ("/api/cart", DATA, "GET", True),
        ("/api/cart", DATA, "POST", False),
        ("/api/reviews", DATA, "GET", False),
        ("/cart", PAGE, "GET", True),
        ("/", PAGE, "GET", True),
        ("/products/7.png", {"sec-fetch-dest": "image"}, "GET", False),
    ],
)
def test_only_the_missing_item_is_gone_everywhere(
    path: str, headers: dict[str, str], method: str, reached: bool
) -> None:
    _, state = met(asked("/products/7"))
    exchange = asked(path, headers, method)

    assert ItemGone().reaches(exchange, state) is reached
    assert ItemGone().still_applies(exchange, state) is reached


def test_a_basket_is_reported_without_it() -> None:
    _, state = met(asked("/products/7"))
    data, _ = met(asked("/api/cart", DATA), state)
    page, _ = met(asked("/cart"), state)

    assert isinstance(data, Rewrite)
    assert isinstance(data.edit, GoneItem)
    assert data.edit.items == (("/products/7", "7"),)
    assert isinstance(page, Rewrite)
    assert page.edit.report
    assert ItemGone().stage_of((data,)) == "response"


def test_before_an_item_is_opened_nothing_is_gone_and_the_next_one_is() -> None:
    effect, state = met(asked("/"))
    assert isinstance(effect, Rewrite)
    assert not ItemGone().still_applies(asked("/cart"), state)
    assert ItemGone().still_applies(asked("/products/7"), state)

    effect, state = met(asked("/products/7"), state)
    assert isinstance(effect, Reply)
    assert not ItemGone().still_applies(asked("/products/8"), state)
