"""The model's answer ends early."""

from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import Effect, Truncate
from warex.faults.llm.base import LlmFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmCut(LlmFault, frozen=True):
    """Forward only the first part of the model's own answer."""

    summary: ClassVar = "Let only the first part of a model's answer through."

    kind: Literal["llm_cut"] = "llm_cut"
    stage: Literal["response"] = "response"
    share: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] = Field(
        default=0.5,
        description="How much of the answer comes: of a stream's events, or of other answers'"
        " sixteen parts. At least the first comes, and never the last.",
    )
    how: Literal["clean", "close", "reset"] = Field(
        default="close",
        description="In good order, as if that were all; or the connection is closed, or reset.",
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (Truncate(self.share, self.how),)

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "" if self.how == "clean" else "cuts an answer in its middle"

    @override
    def outcome(self) -> str:
        end = {
            "clean": "ended in good order before its end",
            "close": "cut off in the middle (an orderly close)",
            "reset": "cut off in the middle (a TCP reset)",
        }
        return end[self.how]
