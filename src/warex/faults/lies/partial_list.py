"""A list comes with half of its items, and nothing says that there are more."""

from typing import ClassVar, Literal

from pydantic import Field

from warex.effects import Effect, Rewrite
from warex.exchange import Exchange
from warex.faults.base import Memory
from warex.faults.lies.base import JsonLie, Pointer
from warex.rewriting.json_edit import JsonEdit
from warex.seeds import Luck


class PartialList(JsonLie, frozen=True):
    """Take every second item out of a list in JSON; what counts them beside it says so."""

    summary: ClassVar = "Take every second item out of a list in JSON."

    kind: Literal["partial_list"] = "partial_list"
    at: Pointer | None = Field(
        default=None,
        description="A JSON pointer (RFC 6901) to the list; left out, the longest outermost one.",
    )

    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Halve the list as the answer passes."""
        return (Rewrite(JsonEdit("halved", luck, self.at)),), memory

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        which = "the longest list" if self.at is None else f"the list at {self.at!r}"
        return (
            f"is handled by the site, and answered with JSON in which every second item of {which}"
            " is missing"
        )
