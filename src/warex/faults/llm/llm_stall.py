"""A model's stream falls silent."""

from math import inf
from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import Effect, StallStream, Truncate
from warex.faults.base import Seconds
from warex.faults.llm.base import StreamFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmStall(StreamFault, frozen=True):
    """Let a model's stream fall silent after its beginning, with the connection open.

    Clients that wait for each piece as long as for the first give up only by a limit for that.
    """

    summary: ClassVar = "Let a model's stream fall silent in the middle, with the connection open."
    sizes: ClassVar = ("delay", "silence")

    kind: Literal["llm_stall"] = "llm_stall"
    silence: Annotated[Seconds, Field(gt=0)] = Field(
        default=60.0, description="For how many seconds nothing comes, unless `then` is never."
    )
    then: Literal["go_on", "close", "reset", "never"] = Field(
        default="go_on",
        description="The rest comes; or the connection is closed, or reset; or nothing ever comes"
        " until the client leaves.",
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        stall = StallStream(self.at, inf if self.then == "never" else self.silence)
        if self.then in ("close", "reset"):
            return (stall, Truncate(self.at, self.then))
        return (stall,)

    @property
    @override
    def waits_for_client(self) -> bool:
        return self.then == "never"

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "stops in the middle of an answer"

    @override
    def outcome(self) -> str:
        ends = {
            "go_on": f"for {self.silence:g} s and then goes on",
            "close": f"for {self.silence:g} s and is then closed in order",
            "reset": f"for {self.silence:g} s and is then reset",
            "never": "until the client leaves",
        }
        return f"let through {self.place}, where its stream falls silent {ends[self.then]}"
