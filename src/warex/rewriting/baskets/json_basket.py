"""Reads a basket in JSON: items with a name and a price, beside totals that are their sum.

Where that does not add up, there is none.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Self

from warex.rewriting.base import ValueChange
from warex.rewriting.json_body.money import Money, read_money
from warex.rewriting.json_body.spans import JsonSpan, decode_scalar
from warex.rewriting.json_body.value_changes import TextReplacement
from warex.text.lazy_pattern import lazy_re

IS_ID: Final = lazy_re(r"^(?:id|_id|uuid|key|sku|slug|.*(?:_id|Id|ID|_key|Key|sku))$")
IS_NAME: Final = lazy_re(r"^(?:name|title|label|product_?name|description)$", re.IGNORECASE)
IS_QUANTITY: Final = lazy_re(r"^(?:quantity|qty|count|amount_of|pieces)$", re.IGNORECASE)
IS_LINE: Final = lazy_re(
    r"^(?:line|row|item)?_?(?:sub)?_?(?:total|sum)(?:_?price|_?cents)?$", re.IGNORECASE
)
IS_PRICE: Final = lazy_re(r"price|amount|cost|unit_cents", re.IGNORECASE)
IS_TOTAL: Final = lazy_re(r"total|sum|due|payable|to_?pay", re.IGNORECASE)
IS_COUNT: Final = lazy_re(
    r"^(?:(?:item|line|total|piece|product)s?_?)*(?:count|quantity|items|size|length|number)$",
    re.IGNORECASE,
)
_IS_OTHER: Final = lazy_re(r"ship|deliver|tax|vat|fee|discount|voucher|coupon", re.IGNORECASE)
_IS_LESS: Final = lazy_re(r"discount|voucher|coupon|saving", re.IGNORECASE)
_MOST: Final = 2_000
"""Values of an answer that are looked at."""
_MAX_ITEMS: Final = 200


@dataclass(frozen=True, slots=True)
class JsonLine:
    """An item of a basket."""

    span: JsonSpan
    title: str
    lines: tuple[tuple[JsonSpan, Money], ...]
    """What all its pieces cost, if the basket says it."""
    prices: tuple[tuple[JsonSpan, Money], ...]
    """What one of them costs."""
    quantity: Decimal

    @classmethod
    def of(cls, item: JsonSpan) -> Self | None:
        """Return an item's line; None if the item is not a line."""
        scalars = list(scalars_of(item))
        title = next((decode_scalar(it.raw) for it in scalars if IS_NAME.match(str(it.step))), "")
        quantity = next(
            (Decimal(it.raw) for it in scalars
             if IS_QUANTITY.match(str(it.step)) and it.raw.isdecimal() and len(it.raw) < 6),
            Decimal(1),
        )  # fmt: skip
        money = [(it, money_of(it)) for it in scalars]
        lines = tuple((it, value) for it, value in money if value and IS_LINE.match(str(it.step)))
        prices = tuple(
            (it, value) for it, value in money if value and IS_PRICE.search(str(it.step))
        )
        if not title or not (lines or prices):
            return None
        return cls(item, title, lines, prices, quantity)

    @property
    def money(self) -> tuple[Money, ...]:
        """Its amounts."""
        return tuple(money for _, money in (*self.lines, *self.prices))

    @property
    def sum(self) -> Decimal:
        """What all its pieces cost."""
        return self.lines[0][1].value if self.lines else self.prices[0][1].value * self.quantity


@dataclass(frozen=True, slots=True)
class JsonBasket:
    """A list of items, the totals beside it, and what these are also made of."""

    holder: JsonSpan
    """The object with the list."""
    items: JsonSpan
    lines: list[JsonLine]
    totals: list[tuple[JsonSpan, Money]]
    others: list[tuple[JsonSpan, Money]]

    @classmethod
    def all_in(cls, root: JsonSpan) -> Iterator[Self]:
        """Yield the baskets of an answer that add up."""
        for holder, items in _lists(root):
            if (basket := cls._of(holder, items)) is not None:
                yield basket

    @classmethod
    def _of(cls, holder: JsonSpan, items: JsonSpan) -> Self | None:
        parsed = [JsonLine.of(item) for item in items.children]
        lines = [line for line in parsed if line is not None]
        if not lines or len(lines) < len(parsed):
            return None
        total = sum((line.sum for line in lines), Decimal(0))
        totals, others = _totals_beside(holder, items)
        extra = sum(
            (-abs(it.value) if _IS_LESS.search(str(span.step)) else it.value
             for span, it in others), Decimal(0),
        )  # fmt: skip
        is_sum = any(money.value == total for _, money in totals)
        if not is_sum or any(money.value not in (total, total + extra) for _, money in totals):
            return None
        return cls(holder, items, lines, totals, others)

    def with_counts(self, pieces: int, items: int) -> Iterator[TextReplacement]:
        """Yield what changes the counts beside the list by so many pieces and items."""
        number, all_pieces = len(self.lines), int(sum(line.quantity for line in self.lines))
        for span in self.holder.children:
            if not IS_COUNT.match(str(span.step)):
                continue
            if span.raw == str(all_pieces):
                yield put(span, str(all_pieces + pieces))
            elif span.raw == str(number):
                yield put(span, str(number + items))

    def with_totals(self, more: Decimal) -> Iterator[TextReplacement]:
        """Yield what changes the totals by an amount."""
        for span, money in self.totals:
            yield put(span, money.written(money.value + more))


def totals_alone(root: JsonSpan) -> Iterator[tuple[JsonSpan, Money]]:
    """Yield the totals of an answer that tells no items."""
    if any(child.text[child.begin] in "[{" for child in root.children):
        return
    for child in root.children:
        money = money_of(child) if IS_TOTAL.search(str(child.step)) else None
        if money is not None and money.value and (money.before or money.after):
            yield child, money


def scalars_of(value: JsonSpan) -> Iterator[JsonSpan]:
    """Yield the values of an item, and of the objects in it, that hold no others."""
    inner: list[JsonSpan] = []
    for child in value.children:
        first = child.text[child.begin]
        if first == "{":
            inner.append(child)
        elif first != "[":
            yield child
    for child in inner:
        yield from (it for it in child.children if it.text[it.begin] not in "[{")


def money_of(span: JsonSpan) -> Money | None:
    """Return the amount that a value is; None for other values."""
    return read_money(decode_scalar(span.raw), is_text=span.raw.startswith('"'))


def put(span: JsonSpan, text: str) -> TextReplacement:
    """Return the replacement of a value by another, written as text or not as it is."""
    written = json.dumps(text, ensure_ascii=False) if span.raw.startswith('"') else text
    change = ValueChange(span.pointer, decode_scalar(span.raw), text)
    return TextReplacement(span.begin, span.end, written, (change,))


def _lists(root: JsonSpan) -> Iterator[tuple[JsonSpan, JsonSpan]]:
    """Yield each list of objects in an object, with the object."""
    waiting, seen = [root], 0
    while waiting:
        value = waiting.pop(0)
        for child in value.children:
            seen += 1
            if seen > _MOST:
                return
            first = child.text[child.begin]
            if first == "[" and value.text[value.begin] == "{" and _is_objects(child):
                yield value, child
            if first in "[{":
                waiting.append(child)


def _is_objects(items: JsonSpan) -> bool:
    objects = items.children
    return 0 < len(objects) <= _MAX_ITEMS and all(it.text[it.begin] == "{" for it in objects)


def _totals_beside(
    holder: JsonSpan, items: JsonSpan
) -> tuple[list[tuple[JsonSpan, Money]], list[tuple[JsonSpan, Money]]]:
    """Return the totals beside a list, and the other amounts that they are made of."""
    places = [holder, *(it for it in holder.children if it.text[it.begin] == "{")]
    if holder.parent is not None and holder.parent.text[holder.parent.begin] == "{":
        places.append(holder.parent)
    totals: list[tuple[JsonSpan, Money]] = []
    others: list[tuple[JsonSpan, Money]] = []
    for place in places:
        for span in place.children:
            name = str(span.step)
            if span is items or span.text[span.begin] in "[{" or IS_COUNT.match(name):
                continue
            money = money_of(span)
            if money is None:
                continue
            if _IS_OTHER.search(name):
                others.append((span, money))
            elif IS_TOTAL.search(name):
                totals.append((span, money))
    return totals, others
