"""The connection ends without an answer."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import Cut, Effect, Truncate
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.faults.transport.base import ByteCount
from warex.seeds import KeyedRng


def _usual_part(values: Mapping[str, Any]) -> Literal["head", "body"] | None:
    return None if values.get("after_bytes") is None else "body"


class ConnectionCut(HeldFault, frozen=True):
    """End the connection without an answer, or within it.

    The browser shows its own error page. Chromium silently repeats the request, also a POST, if a
    reused connection ends.
    """

    summary: ClassVar = "End the connection without an answer."

    kind: Literal["connection_cut"] = "connection_cut"
    how: Literal["close", "reset"] = Field(
        default="reset", description="An orderly close, or a TCP reset."
    )
    delay: Seconds = Field(default=0.0, description="How long the request is held, in seconds.")
    after_bytes: ByteCount | None = Field(
        default=None,
        description="How many bytes of the answer come before: of its head or its body, which are"
        " those of the site (stage response).",
    )
    part: Literal["head", "body"] | None = Field(
        default_factory=_usual_part,
        description="What after_bytes counts. Left out: the body's, if after_bytes is given.",
    )

    @model_validator(mode="before")
    @classmethod
    def _awaits_answer(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("after_bytes") is not None:
            return {"stage": "response", **data}
        return data

    @model_validator(mode="after")
    def _has_answer(self) -> Self:
        if self.after_bytes is None:
            if self.part is not None:
                raise ValueError(f"part {self.part} counts nothing; give after_bytes, too")
        elif self.stage == "request":
            raise ValueError(
                f"after_bytes {self.after_bytes} is within the site's answer, which cannot exist at"
                " stage request; leave the stage out, or give response"
            )
        elif self.part is None:
            raise ValueError("part null says nothing of what after_bytes counts; give head or body")
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Cut, after the delay if there is one."""
        effect: Effect
        if self.after_bytes is None or self.part == "head":
            effect = Cut(self.how, self.after_bytes or 0)
        else:
            effect = Truncate(self.after_bytes, self.how, "bytes")
        return (*self.hold_effects, effect), state

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "cuts an answer in its middle" if self.after_bytes else ""

    @override
    def outcome(self) -> str:
        how = "a TCP reset" if self.how == "reset" else "an orderly close"
        if self.after_bytes is None:
            return f"cut off without an answer ({how})"
        return f"cut off after {self.after_bytes} bytes of its {self.part} ({how})"
