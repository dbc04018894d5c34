"""The site's answer breaks the rules of HTTP in one place."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import AddStrayLine, Coding, Effect, Malform
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.seeds import KeyedRng

_SHOWN: Final[Mapping[str, str]] = {
    "status_line": "an invalid status line",
    "header": "a line without a colon among its fields",
    "two_lengths": "two lengths that differ",
    "length": "a length of twice its body",
    "chunk": "a chunk whose size is not a number",
    "frame": "a frame of a wrong size (HTTP/2)",
}


def _usual_coding(values: Mapping[str, Any]) -> Coding | None:
    return "gzip" if values.get("defect") == "coding" else None


class MalformedResponse(Fault, frozen=True):
    """Send the site's answer with a defect that a client has to notice."""

    summary: ClassVar = "Send an answer that breaks the rules of HTTP in one place."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    kind: Literal["malformed_response"] = "malformed_response"
    stage: Literal["response"] = "response"
    defect: Literal[
        "status_line", "header", "two_lengths", "length", "chunk", "coding", "frame"
    ] = Field(default="status_line", description="What is wrong with the answer.")
    coding: Coding | None = Field(
        default_factory=_usual_coding,
        description="The content coding that is broken in its middle, for the defect coding. Left"
        " out: gzip.",
    )

    @model_validator(mode="after")
    def _has_coding(self) -> Self:
        if (self.defect == "coding") != (self.coding is not None):
            raise ValueError(
                f"coding {self.coding or 'null'} and defect: {self.defect} do not go together; the"
                " defect coding has one of gzip, br and zstd, and no other defect has one"
            )
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Send the answer with its defect."""
        effect: Effect
        if self.defect == "header":
            effect = AddStrayLine()
        else:
            effect = Malform(self.defect, self.coding or "gzip")
        return (effect,), state

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "" if self.defect == "coding" else "sends an answer that breaks the rules of HTTP"

    @override
    def outcome(self) -> str:
        if self.defect == "coding":
            return f"sent on in the content coding {self.coding}, which breaks in its middle"
        return f"sent on with {_SHOWN[self.defect]}"
