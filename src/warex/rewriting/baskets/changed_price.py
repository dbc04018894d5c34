"""Changes what the items of a shop cost in JSON, in a basket with its totals or of one item."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Final, Literal
from urllib.parse import urlsplit

from warex.rewriting.baskets.json_basket import (
    IS_COUNT,
    IS_NAME,
    IS_PRICE,
    JsonBasket,
    JsonLine,
    money_of,
    put,
    scalars_of,
    totals_alone,
)
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.money import Money
from warex.rewriting.json_body.spans import JsonSpan
from warex.rewriting.json_body.value_changes import TextReplacement
from warex.text.lazy_pattern import lazy_re

type Place = Literal["detail", "basket", "checkout"]
"""Where a shop shows a price, in the order in which a visitor comes there."""

PLACES: Final[tuple[Place, ...]] = ("detail", "basket", "checkout")
_CHECKOUT: Final = lazy_re(r"checkout|order|payment|kasse|bestell|commande|pedido")
_IS_OLD: Final = lazy_re(r"(?:^|_)(?:was|old|list|original|compare|regular|ship|tax|vat)|currency")
_CENT: Final = Decimal("0.01")
_FROM_CENTS: Final = 100


@dataclass(frozen=True, slots=True)
class Pricing:
    """What a price becomes."""

    factor: Decimal = Decimal(1)
    amount: Decimal | None = None
    """Added to it, in the currency; in place of the factor."""

    def of(self, money: Money, unit: int = 1) -> Decimal:
        """Return another price; ``unit``: how many of the number's units are one of the currency.

        It is rounded as the price is written, and not below zero.
        """
        if self.amount is None:
            value = money.value * self.factor
        else:
            value = money.value + self.amount * unit
        is_whole = not money.places and (money.text or money.value == money.value.to_integral())
        step = Decimal(1) if is_whole else _CENT
        return max(value.quantize(step, ROUND_HALF_UP), Decimal(0))


class ChangedPrice(JsonEdit, frozen=True):
    """Changes the prices of a JSON response, from one place of the shop on."""

    pricing: Pricing = Pricing()
    since: Place = "basket"

    def _made(self, about: str, root: JsonSpan, most: int) -> tuple[list[TextReplacement], int]:
        path = urlsplit(about.partition(" ")[2]).path.lower()
        shown: Place = "checkout" if _CHECKOUT.search(path) else "basket"
        if (basket := next(JsonBasket.all_in(root), None)) is not None:
            made = list(self._in_basket(basket)) if self._applies(shown) else []
        elif alone := list(totals_alone(root)):
            made = list(self._in_totals(root, alone)) if self._applies(shown) else []
        else:
            made = list(self._of_item(root)) if self._applies("detail") else []
        return sorted(made, key=lambda it: it.begin), len(made)

    def _applies(self, place: Place) -> bool:
        return PLACES.index(place) >= PLACES.index(self.since)

    def _in_basket(self, basket: JsonBasket) -> Iterator[TextReplacement]:
        unit = _unit([it for line in basket.lines for it in line.money])
        more = Decimal(0)
        for line in basket.lines:
            price, total = self._of_line(line, unit)
            more += total - line.sum
            for span, money in line.prices:
                if price is not None and money.value == line.prices[0][1].value:
                    yield put(span, money.written(price))
            for span, money in line.lines:
                if money.value == line.sum:
                    yield put(span, money.written(total))
        yield from basket.with_totals(more)

    def _of_line(self, line: JsonLine, unit: int) -> tuple[Decimal | None, Decimal]:
        """Return what one piece of a line costs, if the line says it, and what all of them cost."""
        if line.prices and line.prices[0][1].value * line.quantity == line.sum:
            price = self.pricing.of(line.prices[0][1], unit)
            return price, price * line.quantity
        written = line.lines[0][1] if line.lines else line.prices[0][1]
        each = line.sum / line.quantity if line.quantity else line.sum
        if each == each.quantize(_CENT):
            like = Money(each, written.places, text=written.text)
            return None, self.pricing.of(like, unit) * (line.quantity or 1)
        return None, self.pricing.of(written, unit)

    def _in_totals(
        self, root: JsonSpan, alone: list[tuple[JsonSpan, Money]]
    ) -> Iterator[TextReplacement]:
        """Yield what changes totals that come without their items."""
        counts = (it for it in root.children if IS_COUNT.match(str(it.step)) or it.step == "pieces")
        pieces = next((int(it.raw) for it in counts if it.raw.isdecimal() and len(it.raw) < 6), 1)
        for span, money in alone:
            if self.pricing.amount is None:
                yield put(span, money.written(self.pricing.of(money)))
            else:
                yield put(span, money.written(money.value + self.pricing.amount * pieces))

    def _of_item(self, root: JsonSpan) -> Iterator[TextReplacement]:
        """Yield what changes the price of the one item that an answer is about."""
        holders = [root, *(it for it in root.children if it.text[it.begin] == "{")]
        if root.text[root.begin] != "{":
            return
        for holder in holders:
            scalars = [it for it in scalars_of(holder) if it.parent is holder]
            money = [
                (it, value)
                for it in scalars
                if IS_PRICE.search(str(it.step)) and not _IS_OLD.search(str(it.step).lower())
                for value in [money_of(it)]
                if value is not None and value.value
            ]
            if money and any(IS_NAME.match(str(it.step)) for it in scalars):
                unit = _unit([value for _, value in money])
                for span, value in money:
                    yield put(span, value.written(self.pricing.of(value, unit)))
                return


def _unit(amounts: list[Money]) -> int:
    """Return how many of the numbers' units are one of the currency: 100 where they are cents."""
    if any(it.places or it.text for it in amounts):
        return 1
    return 100 if all(it.value >= _FROM_CENTS for it in amounts if it.value) else 1
