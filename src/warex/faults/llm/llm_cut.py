"""The model's answer ends early."""

from typing import Annotated, ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import CutStream, Effect, Truncate
from warex.faults.llm.base import LlmFault
from warex.llm.base import StreamPoint
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmCut(LlmFault, frozen=True):
    """Forward only the first part of the model's own answer."""

    summary: ClassVar = "Send only the first part of a model's answer."

    kind: Literal["llm_cut"] = "llm_cut"
    stage: Literal["response"] = "response"
    share: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] | None = Field(
        default=None,
        description="How much of the answer comes: of a stream's events, or of other answers'"
        " sixteen parts. At least the first comes, and never the last. Left out, as `before`, it"
        " is 0.5.",
    )
    before: Literal["finish", "end_marker"] | None = Field(
        default=None,
        description="In place of `share`, for streams: all comes before the event that tells why"
        " the model ended, or before the last that its API demands.",
    )
    how: Literal["clean", "close", "reset"] = Field(
        default="close",
        description="In good order, as if that were all; or the connection is closed, or reset.",
    )

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if self.before is not None and self.share is not None:
            raise ValueError("share and before are two places; give one")
        return self

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        if self.before is not None:
            return (CutStream(StreamPoint(before=self.before), self.how),)
        return (Truncate(0.5 if self.share is None else self.share, self.how),)

    @property
    @override
    def needs_stream(self) -> bool:
        return self.before is not None

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "" if self.how == "clean" else "cuts an answer in its middle"

    @override
    def outcome(self) -> str:
        if self.before is not None:
            mark = {"finish": "the reason of its end", "end_marker": "its end marker"}
            ends = {"clean": "in good order", "close": "in a close", "reset": "in a TCP reset"}
            return f"let through but for {mark[self.before]}, and ends {ends[self.how]}"
        end = {
            "clean": "ended in good order before its end",
            "close": "cut off in the middle (an orderly close)",
            "reset": "cut off in the middle (a TCP reset)",
        }
        return end[self.how]
