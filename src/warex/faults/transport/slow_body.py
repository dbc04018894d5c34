"""An answer comes in pieces, with a pause before each but the first."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import Trickle
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.seeds import KeyedRng


def _usual_pieces(values: Mapping[str, Any]) -> int | None:
    return 16 if values.get("piece_bytes") is None else None


class SlowBody(HeldFault, frozen=True):
    """Forward the site's answer in pieces, as it comes."""

    summary: ClassVar = "Send an answer in pieces, with pauses between them."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)
    sizes: ClassVar = ("delay", "pause")

    stage: Literal["response"] = "response"
    kind: Literal["slow_body"] = "slow_body"
    piece_bytes: Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)] | None = Field(
        default=None, description="How many bytes a piece has; it is then sent as it comes."
    )
    pieces: Annotated[int, Field(ge=2, le=10_000, strict=True)] | None = Field(
        default_factory=_usual_pieces,
        description="How many pieces it has. Left out: 16, unless piece_bytes is given.",
    )
    pause: Seconds = Field(
        default=1.0, gt=0, description="How long each piece but the first is held, in seconds."
    )
    delay: Seconds = Field(default=0.0, description="How long the first piece is held, in seconds.")

    @model_validator(mode="after")
    def _is_one_division(self) -> Self:
        if (self.pieces is None) == (self.piece_bytes is None):
            raise ValueError(
                f"pieces {self.pieces} and piece_bytes {self.piece_bytes} are two divisions of one"
                " body or none; give one of them"
            )
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Hold the first piece, then send the others with pauses."""
        trickle = Trickle(self.pause, self.pieces or 0, self.piece_bytes or 0)
        return (*self.hold_effects, trickle), state

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "sends an answer piece by piece"

    @override
    def outcome(self) -> str:
        pieces = f"{self.pieces} pieces" if self.pieces else f"pieces of {self.piece_bytes} bytes"
        return f"let through in {pieces}, {self.pause:g} s apart"
