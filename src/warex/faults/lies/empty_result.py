"""A list that has items comes without any: a search that seems to have found nothing."""

from typing import ClassVar, Literal

from warex.faults.lies.base import ListLie


class EmptyResult(ListLie, frozen=True):
    """Take all items out of a list in JSON; what counts them beside it says 0."""

    summary: ClassVar = "Take all items out of a list in JSON."
    how: ClassVar = "emptied"
    list_phrase: ClassVar = "{} is empty"

    kind: Literal["empty_result"] = "empty_result"
