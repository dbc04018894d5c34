"""Puts a further item into a basket in JSON, whose totals then agree.

A basket is a list of items with a name and a price beside a total that is their sum. Where that
does not add up, nothing is changed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from warex.exchange import Request, Response
from warex.rewriting.base import ActiveRewrite, ValueChange
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.money import Money, read_money
from warex.rewriting.json_body.spans import JsonSpan, decode_scalar
from warex.rewriting.json_body.value_changes import TextReplacement
from warex.seeds import KeyedRng
from warex.text.lazy_pattern import lazy_re

_MOST: Final = 2_000
"""Values of an answer that are looked at."""
_MAX_ITEMS: Final = 200
_IS_ID: Final = lazy_re(r"^(?:id|_id|uuid|key|sku|slug|.*(?:_id|Id|ID|_key|Key|sku))$")
_IS_NAME: Final = lazy_re(r"^(?:name|title|label|product_?name|description)$", re.IGNORECASE)
_IS_QUANTITY: Final = lazy_re(r"^(?:quantity|qty|count|amount_of|pieces)$", re.IGNORECASE)
_IS_LINE: Final = lazy_re(
    r"^(?:line|row|item)?_?(?:sub)?_?(?:total|sum)(?:_?price|_?cents)?$", re.IGNORECASE
)
_IS_PRICE: Final = lazy_re(r"price|amount|cost|unit_cents", re.IGNORECASE)
_IS_TOTAL: Final = lazy_re(r"total|sum|due|payable|to_?pay", re.IGNORECASE)
_IS_OTHER: Final = lazy_re(r"ship|deliver|tax|vat|fee|discount|voucher|coupon", re.IGNORECASE)
_IS_LESS: Final = lazy_re(r"discount|voucher|coupon|saving", re.IGNORECASE)
_IS_COUNT: Final = lazy_re(
    r"^(?:(?:item|line|total|piece|product)s?_?)*(?:count|quantity|items|size|length|number)$",
    re.IGNORECASE,
)
_FROM_CENTS: Final = 100


@dataclass(frozen=True, slots=True)
class BasketEdit(JsonEdit):
    """Adds one item to the basket of a JSON response."""

    title: str = ""
    price: Decimal = Decimal(0)
    """In dollars or the like."""
    identity: str = ""
    """The item's id, as digits."""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of an answer in JSON to a request for a basket."""
        # Slots and super() do not agree in a dataclass.
        return JsonEdit.begin(self, request, response)

    def _made(self, about: str, root: JsonSpan, most: int) -> tuple[list[TextReplacement], int]:
        for basket, items in _lists(root):
            made = self._added(basket, items)
            if made:
                return sorted(made, key=lambda it: it.begin), 1
        made = list(self._total_alone(root))
        return made, len(made)

    def _total_alone(self, root: JsonSpan) -> Iterator[TextReplacement]:
        """Yield what raises the totals of an answer that tells no items."""
        if any(child.text[child.begin] in "[{" for child in root.children):
            return
        for child in root.children:
            money = _money_of(child) if _IS_TOTAL.search(str(child.step)) else None
            if money is not None and money.value and (money.before or money.after):
                added = self._amount([], [money])
                yield _put(child, money.written(money.value + added))

    def _added(self, basket: JsonSpan, items: JsonSpan) -> list[TextReplacement]:
        """Return what adds the item; nothing where the basket does not add up."""
        lines = [_Line.of(item) for item in items.children[:_MAX_ITEMS]]
        if not lines or any(line is None for line in lines):
            return []
        known = [line for line in lines if line is not None]
        total = sum((line.sum for line in known), Decimal(0))
        totals, others = _around(basket, items)
        if not any(money.value == total for _, money in totals):
            return []
        extra = sum(
            (-abs(it.value) if _IS_LESS.search(str(span.step)) else it.value
             for span, it in others), Decimal(0),
        )  # fmt: skip
        if any(money.value not in (total, total + extra) for _, money in totals):
            return []
        added = self._amount(known, [money for _, money in (*totals, *others)])
        if any(line.title == self.title for line in known):
            return []
        model = items.children[len(known) - 1]
        put = _like(model, known[-1], self.title, added, self.identity)
        last = items.children[-1]
        change = ValueChange(f"{items.pointer}/{len(items.children)}", "", self.title)
        made = [TextReplacement(last.end, last.end, f",{put}", (change,))]
        made += [_put(span, money.written(money.value + added)) for span, money in totals]
        return made + [_put(span, number) for span, number in _counts(basket, items, known)]

    def _amount(self, lines: "list[_Line]", others: list[Money]) -> Decimal:
        amounts = [money for line in lines for money in line.money] + others
        shown = [money.value for money in amounts if money.value]
        if any(money.places or money.text for money in amounts):
            return self.price
        if all(value >= _FROM_CENTS for value in shown):
            return self.price * 100
        return self.price.quantize(Decimal(1), ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class _Line:
    """An item of a basket."""

    title: str
    money: tuple[Money, ...]
    sum: Decimal
    quantity: Decimal

    @classmethod
    def of(cls, item: JsonSpan) -> "_Line | None":
        """Return an item's line; None if it is none."""
        scalars = list(_scalars(item))
        title = next((decode_scalar(it.raw) for it in scalars if _IS_NAME.match(str(it.step))), "")
        quantity = next(
            (Decimal(it.raw) for it in scalars
             if _IS_QUANTITY.match(str(it.step)) and it.raw.isdecimal() and len(it.raw) < 6),
            Decimal(1),
        )  # fmt: skip
        money = [(str(it.step), _money_of(it)) for it in scalars]
        lines = [it for name, it in money if it and _IS_LINE.match(name)]
        prices = [it for name, it in money if it and _IS_PRICE.search(name)]
        if not title or not (lines or prices):
            return None
        worth = lines[0].value if lines else prices[0].value * quantity
        return cls(title, tuple((*lines, *prices)), worth, quantity)


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
    found = items.children
    return 0 < len(found) <= _MAX_ITEMS and all(it.text[it.begin] == "{" for it in found)


def _scalars(value: JsonSpan) -> Iterator[JsonSpan]:
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


def _money_of(span: JsonSpan) -> Money | None:
    return read_money(decode_scalar(span.raw), is_text=span.raw.startswith('"'))


def _around(
    basket: JsonSpan, items: JsonSpan
) -> tuple[list[tuple[JsonSpan, Money]], list[tuple[JsonSpan, Money]]]:
    """Return the totals beside a list, and the other amounts that they are made of."""
    places = [basket, *(it for it in basket.children if it.text[it.begin] == "{")]
    if basket.parent is not None and basket.parent.text[basket.parent.begin] == "{":
        places.append(basket.parent)
    totals: list[tuple[JsonSpan, Money]] = []
    others: list[tuple[JsonSpan, Money]] = []
    for place in places:
        for span in place.children:
            name = str(span.step)
            if span is items or span.text[span.begin] in "[{" or _IS_COUNT.match(name):
                continue
            money = _money_of(span)
            if money is None:
                continue
            if _IS_OTHER.search(name):
                others.append((span, money))
            elif _IS_TOTAL.search(name):
                totals.append((span, money))
    return totals, others


def _counts(
    basket: JsonSpan, items: JsonSpan, lines: list[_Line]
) -> Iterator[tuple[JsonSpan, str]]:
    pieces = int(sum(line.quantity for line in lines))
    for span in basket.children:
        if _IS_COUNT.match(str(span.step)) and span.raw in (str(len(lines)), str(pieces)):
            yield span, str(int(span.raw) + 1)


def _put(span: JsonSpan, text: str) -> TextReplacement:
    put = json.dumps(text, ensure_ascii=False) if span.raw.startswith('"') else text
    change = ValueChange(span.pointer, decode_scalar(span.raw), text)
    return TextReplacement(span.begin, span.end, put, (change,))


def _like(model: JsonSpan, line: _Line, title: str, price: Decimal, identity: str) -> str:
    """Return an item like the model, with another name, price and id, once."""
    made: dict[str, str] = {}
    for child in model.children:
        name, first = str(child.step), child.text[child.begin]
        if first == "{":
            made[name] = _like(child, line, title, price, identity)
        elif first == "[":
            made[name] = "[]"
        else:
            made[name] = _value_like(child, name, title, price, identity)
    inside = ",".join(f"{json.dumps(name)}:{value}" for name, value in made.items())
    return f"{{{inside}}}"


def _value_like(span: JsonSpan, name: str, title: str, price: Decimal, identity: str) -> str:
    is_text = span.raw.startswith('"')
    said = decode_scalar(span.raw)
    if _IS_ID.match(name):
        return json.dumps(identity) if is_text else identity
    if _IS_NAME.match(name) and is_text:
        return json.dumps(title, ensure_ascii=False)
    if _IS_QUANTITY.match(name):
        return '"1"' if is_text else "1"
    if _IS_LINE.match(name) or _IS_PRICE.search(name):
        money = _money_of(span)
        if money is not None:
            written = money.written(price)
            return json.dumps(written, ensure_ascii=False) if is_text else written
    if is_text and said.startswith(("http", "/", "data:")):
        return '""'
    return span.raw


def basket_edit(settings: Mapping[str, str], rng: KeyedRng) -> BasketEdit:
    """Return the edit that adds an item with a title, a price and an id."""
    return BasketEdit(
        "replaced",
        rng,
        title=settings["title"],
        price=Decimal(settings["price"]),
        identity=settings["identity"],
    )
