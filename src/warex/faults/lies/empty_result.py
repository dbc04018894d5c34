"""A list that has items comes without any: a search that seems to have found nothing."""

from typing import ClassVar, Literal

from pydantic import Field

from warex.effects import Effect, Rewrite
from warex.exchange import Exchange
from warex.faults.base import Memory
from warex.faults.lies.base import JsonLie, Pointer
from warex.rewriting.json_edit import JsonEdit
from warex.seeds import Luck


class EmptyResult(JsonLie, frozen=True):
    """Take all items out of a list in JSON; what counts them beside it says 0."""

    summary: ClassVar = "Take all items out of a list in JSON."

    kind: Literal["empty_result"] = "empty_result"
    at: Pointer | None = Field(
        default=None,
        description="A JSON pointer (RFC 6901) to the list; left out, the longest outermost one.",
    )

    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Empty the list as the answer passes."""
        return (Rewrite(JsonEdit("emptied", luck, self.at)),), memory

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        which = "the longest list" if self.at is None else f"the list at {self.at!r}"
        return f"is handled by the site, and answered with JSON in which {which} is empty"
