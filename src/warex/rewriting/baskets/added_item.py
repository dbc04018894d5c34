"""Puts a further item into a basket in JSON, whose totals then agree."""

import json
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from warex.rewriting.base import ValueChange
from warex.rewriting.baskets.json_basket import (
    IS_ID,
    IS_LINE,
    IS_NAME,
    IS_PRICE,
    IS_QUANTITY,
    JsonBasket,
    money_of,
    put,
    totals_alone,
)
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.money import Money
from warex.rewriting.json_body.spans import JsonSpan, decode_scalar
from warex.rewriting.json_body.value_changes import TextReplacement
from warex.seeds import KeyedRng

_FROM_CENTS: Final = 100


class AddedItem(JsonEdit, frozen=True):
    """Adds one item to the basket of a JSON response."""

    title: str = ""
    price: Decimal = Decimal(0)
    """In dollars or the like."""
    identity: str = ""
    """The item's id, as digits."""

    def _made(self, about: str, root: JsonSpan, most: int) -> tuple[list[TextReplacement], int]:
        for basket in JsonBasket.all_in(root):
            if all(line.title != self.title for line in basket.lines):
                return sorted(self._added(basket), key=lambda it: it.begin), 1
        made = []
        for span, money in totals_alone(root):
            made.append(put(span, money.written(money.value + self._amount([money]))))
        return made, len(made)

    def _added(self, basket: JsonBasket) -> list[TextReplacement]:
        """Return what adds the item to a basket."""
        money = [it for line in basket.lines for it in line.money]
        money += [it for _, it in (*basket.totals, *basket.others)]
        amount = self._amount(money)
        last, items = basket.items.children[-1], basket.items
        like = _copy_of(last, self.title, amount, self.identity)
        change = ValueChange(f"{items.pointer}/{len(items.children)}", "", self.title)
        return [
            TextReplacement(last.end, last.end, f",{like}", (change,)),
            *basket.with_totals(amount),
            *basket.with_counts(1, 1),
        ]

    def _amount(self, amounts: list[Money]) -> Decimal:
        """Return the price in the unit of the amounts."""
        shown = [money.value for money in amounts if money.value]
        if any(money.places or money.text for money in amounts):
            return self.price
        if all(value >= _FROM_CENTS for value in shown):
            return self.price * 100
        return self.price.quantize(Decimal(1), ROUND_HALF_UP)


def _copy_of(model: JsonSpan, title: str, price: Decimal, identity: str) -> str:
    """Return an item like the model, with another name, price and id, once."""
    made: dict[str, str] = {}
    for child in model.children:
        name, first = str(child.step), child.text[child.begin]
        if first == "{":
            made[name] = _copy_of(child, title, price, identity)
        elif first == "[":
            made[name] = "[]"
        else:
            made[name] = _value_like(child, name, title, price, identity)
    inside = ",".join(f"{json.dumps(name)}:{value}" for name, value in made.items())
    return f"{{{inside}}}"


def _value_like(span: JsonSpan, name: str, title: str, price: Decimal, identity: str) -> str:
    is_text = span.raw.startswith('"')
    written = decode_scalar(span.raw)
    if IS_ID.match(name):
        return json.dumps(identity) if is_text else identity
    if IS_NAME.match(name) and is_text:
        return json.dumps(title, ensure_ascii=False)
    if IS_QUANTITY.match(name):
        return '"1"' if is_text else "1"
    if IS_LINE.match(name) or IS_PRICE.search(name):
        money = money_of(span)
        if money is not None:
            amount = money.written(price)
            return json.dumps(amount, ensure_ascii=False) if is_text else amount
    if is_text and written.startswith(("http", "/", "data:")):
        return '""'
    return span.raw


def added_item(settings: Mapping[str, str], rng: KeyedRng) -> AddedItem:
    """Return the edit that adds an item with a title, a price and an id."""
    return AddedItem(
        "replaced",
        rng,
        title=settings["title"],
        price=Decimal(settings["price"]),
        identity=settings["identity"],
    )
