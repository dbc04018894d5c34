"""Takes an item that is no longer to be had out of a basket in JSON, whose totals then agree."""

import re
from decimal import Decimal
from typing import Final

from warex.rewriting.base import ValueChange
from warex.rewriting.baskets.json_basket import IS_ID, JsonBasket, JsonLine
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.json_body.spans import JsonSpan, decode_scalar
from warex.rewriting.json_body.value_changes import TextReplacement
from warex.text.lazy_pattern import lazy_re

_OF_PRODUCT: Final = lazy_re(r"product|article|goods|asin|listing|sku|slug", re.IGNORECASE)
"""What names an item of the shop, and not a line of the basket."""


class GoneItem(JsonEdit, frozen=True):
    """Removes items of the shop from the basket of a JSON response."""

    items: tuple[tuple[str, str], ...] = ()
    """The path of each item's page, and its id."""

    def _made(self, about: str, root: JsonSpan, most: int) -> tuple[list[TextReplacement], int]:
        for basket in JsonBasket.all_in(root):
            removed = [line for line in basket.lines if self._is_gone(line)]
            if removed:
                made = self._without(basket, removed)
                return sorted(made, key=lambda it: it.begin), len(removed)
        return [], 0

    def _without(self, basket: JsonBasket, removed: list[JsonLine]) -> list[TextReplacement]:
        items = basket.items
        remaining = [line.span.raw for line in basket.lines if line not in removed]
        changes = tuple(ValueChange(line.span.pointer, line.title, None) for line in removed)
        pieces = int(sum(line.quantity for line in removed))
        return [
            TextReplacement(items.begin, items.end, f"[{','.join(remaining)}]", changes),
            *basket.with_totals(-sum((line.sum for line in removed), Decimal(0))),
            *basket.with_counts(-pieces, -len(removed)),
        ]

    def _is_gone(self, line: JsonLine) -> bool:
        values = list(_named(line.span))
        texts = [text for _, text in values if "/" in text]
        of_product = [text for name, text in values if _OF_PRODUCT.search(name)]
        ids = of_product or [text for name, text in values if IS_ID.match(name)]
        return any(
            identity in ids or any(_leads_to(text, path) for text in texts)
            for path, identity in self.items
        )


def _named(item: JsonSpan, above: str = "", depth: int = 2) -> list[tuple[str, str]]:
    """Return the values in an item, each with the names that lead to it."""
    values: list[tuple[str, str]] = []
    for child in item.children:
        name = f"{above}.{child.step}" if above else str(child.step)
        first = child.text[child.begin]
        if first == "{" and depth:
            # Of a product itself, only its id names it.
            values += _named(child, name, depth - 1)
        elif first not in "[{":
            is_id = not above or IS_ID.match(str(child.step)) is not None
            values.append((name if is_id else str(child.step), decode_scalar(child.raw)))
    return values


def _leads_to(text: str, path: str) -> bool:
    """Whether a text is an address of an item's page."""
    place = re.sub(r"^https?://[^/]*", "", text).partition("?")[0].partition("#")[0]
    return place.rstrip("/") == path
