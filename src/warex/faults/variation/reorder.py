"""Comparable things stand in another order: links, items, rows, fields, options."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import JsonValue

from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng


class Reorder(VariationFault, frozen=True):
    """Let a share of the parts of each group change places; order that means something stays."""

    summary: ClassVar = "Put links, list items, cards, rows, fields and options in another order."
    meets: ClassVar = "has some of its links, items, rows, fields and options in another order"

    kind: Literal["reorder"] = "reorder"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Return nothing more: the page's script draws from the seed and the page's words."""
        return {}
