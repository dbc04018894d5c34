"""A value of an API's answer is wrong, and the answer looks healthy."""

from typing import Annotated, Any, ClassVar, Literal, override

from pydantic import Field, ValidationInfo, field_validator

from warex.effects import Rewrite
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState
from warex.faults.lies.base import CORRUPTED, CorruptedKind, Corruption, JsonLie, Pointer
from warex.rewriting.json_body.edit import JsonEdit
from warex.seeds import KeyedRng


def _usual_kind(values: dict[str, Any]) -> CorruptedKind | None:
    return "price" if values.get("at") is None else None


class JsonCorruption(JsonLie, frozen=True):
    """Change only values of a JSON answer."""

    summary: ClassVar = "Change a value in the JSON that a page's scripts ask for."

    kind: Literal["json_corruption"] = "json_corruption"
    at: Pointer | None = Field(
        default=None, description="A JSON pointer (RFC 6901) to the value, as /items/0/price."
    )
    value: CorruptedKind | None = Field(
        default_factory=_usual_kind,
        description="What kind of value, wherever it stands; the seed chooses among several.",
    )
    how: Corruption = Field(default="off_by_one", description="What becomes of the value.")
    count: Annotated[int, Field(ge=1, le=1000, strict=True)] = Field(
        default=1, description="How many values of the kind."
    )

    @field_validator("value")
    @classmethod
    def _require_target(
        cls, value: CorruptedKind | None, info: ValidationInfo
    ) -> CorruptedKind | None:
        at = info.data.get("at")
        if value is not None and at is not None:
            raise ValueError(f"the pointer {at!r} says which value it is; leave out one of the two")
        if value is None and at is None:
            raise ValueError("without a pointer (at), say which kind of value")
        return value

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Change the values in the answer; the same request always gets the same lie."""
        return (Rewrite(JsonEdit(self.how, rng, self.at, self.value, self.count)),), state

    @override
    def outcome(self) -> str:
        which = f"the value at {self.at!r}" if self.at is not None else f"a {self.value}"
        if self.count > 1:
            which = f"up to {self.count} of kind {self.value}"
        return f"{which} is {CORRUPTED[self.how]}"
