"""The base class of faults that have an answer fall silent in its middle."""

from math import inf
from typing import TYPE_CHECKING, Literal, Self, override

from pydantic import Field, model_validator

from warex.faults.base import Fault


class SilentFault(Fault, frozen=True):
    """A silence with the connection open, and what follows it."""

    stage: Literal["response"] = "response"
    then: Literal["go_on", "close", "reset", "never"] = Field(
        default="go_on",
        description="After the silence the rest comes, or the connection is closed, or reset; or it"
        " lasts until the client leaves or the trial ends.",
    )

    if TYPE_CHECKING:

        @property
        def stall(self) -> float | None:
            """Seconds; each subclass has its own field. None for a silence without an end."""

    @model_validator(mode="after")
    def _ends_or_not(self) -> Self:
        if (self.then == "never") != (self.stall is None):
            stall = "null" if self.stall is None else f"{self.stall:g}"
            raise ValueError(
                f"stall {stall} and then: {self.then} do not go together; a silence that nothing"
                " follows (never) has no seconds (null), any other one has"
            )
        if self.stall == 0:
            raise ValueError("stall 0 is not silence; give seconds above 0")
        return self

    @property
    def silence_s(self) -> float:
        """Seconds of the silence; infinite for one without an end."""
        return inf if self.stall is None else self.stall

    @property
    def end(self) -> Literal["close", "reset"] | None:
        """How the connection ends after the silence; None if the answer goes on."""
        if self.then == "go_on":
            return None
        return "close" if self.then == "never" else self.then

    @property
    @override
    def is_endless(self) -> bool:
        return self.then == "never"

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "stops an answer in its middle"

    @property
    def follows(self) -> str:
        """What follows a silence that ends, in words."""
        if self.end is None:
            return "then goes on"
        how = "a TCP reset" if self.end == "reset" else "an orderly close"
        return f"then is cut off ({how})"
