"""A list arrives with half of its items, without a hint that there are more."""

from typing import ClassVar, Literal

from warex.faults.lies.base import ListLie


class PartialList(ListLie, frozen=True):
    """Remove every second item from a JSON list; counts beside it are changed to agree."""

    summary: ClassVar = "Take every second item out of a list in JSON."
    how: ClassVar = "halved"
    list_phrase: ClassVar = "every second item of {} is missing"

    kind: Literal["partial_list"] = "partial_list"
