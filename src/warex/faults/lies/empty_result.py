"""A list arrives without its items, like a search without results."""

from typing import ClassVar, Literal

from warex.faults.lies.base import ListLie


class EmptyResult(ListLie, frozen=True):
    """Remove all items from a JSON list; counts beside it become 0."""

    summary: ClassVar = "Take all items out of a list in JSON."
    how: ClassVar = "emptied"
    list_phrase: ClassVar = "{} is empty"

    kind: Literal["empty_result"] = "empty_result"
