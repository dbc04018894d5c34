"""A list comes with half of its items, and nothing says that there are more."""

from typing import ClassVar, Literal

from warex.faults.lies.base import ListLie


class PartialList(ListLie, frozen=True):
    """Take every second item out of a list in JSON; what counts them beside it says so."""

    summary: ClassVar = "Take every second item out of a list in JSON."
    how: ClassVar = "halved"
    list_phrase: ClassVar = "every second item of {} is missing"

    kind: Literal["partial_list"] = "partial_list"
