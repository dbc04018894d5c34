"""Links, items, rows, fields and options are in another order."""

from typing import ClassVar, Literal

from warex.faults.variation.base import VariationFault


class Reorder(VariationFault, frozen=True):
    """Permute a share of the parts of each group; meaningful order stays."""

    summary: ClassVar = "Put links, list items, cards, rows, fields and options in another order."
    meets: ClassVar = "has some of its links, items, rows, fields and options in another order"

    kind: Literal["reorder"] = "reorder"
