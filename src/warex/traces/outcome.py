"""Outcomes of trials. A void one has no score field, so that no average counts it as zero."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
)

type Ending = Literal[
    "answered",
    "reported_infeasible",
    "step_limit",
    "time_limit",
    "model_error",
    "agent_crashed",
    "harness_crashed",
]
CRASHED_BEFORE_A_FAULT = "the harness crashed before any fault was delivered"
"""Beginning of a void outcome's reason if no fault can have caused the crash."""


def _without_unset(written: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in written.items() if key != name or value}


class Counted(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The trial ran as planned. Its score counts, however badly the agent did."""

    outcome: Literal["counted"] = "counted"
    ending: Ending
    score: float = Field(ge=0, le=1)
    latency_s: float = Field(ge=0)
    """Client latency: from the agent's command start to its exit."""
    answer: str | None = None
    reasons: tuple[str, ...] = ()
    """Why the score is what it is, one sentence for each check."""
    refused_ports: tuple[int, ...] = ()
    """As for an unscored one."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _without_unset(write(self), "refused_ports")


class Void(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The harness broke, so the trial says nothing about the agent. It is run again."""

    outcome: Literal["void"] = "void"
    reason: str
    died: bool = False
    """Whether a process of WAREX's own was killed; not written where none was."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _without_unset(write(self), "died")


class Unscored(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The trial ran, and has no score."""

    outcome: Literal["unscored"] = "unscored"
    ending: Ending | None = None
    """None if a proxy ran alone, which does not see how the agent stopped."""
    latency_s: float | None = Field(default=None, ge=0)
    """As for a counted one; None without a command."""
    refused_ports: tuple[int, ...] = ()
    """Ports of this machine's loopback that the command was refused in its own network; not
    written where there are none."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return _without_unset(write(self), "refused_ports")

    @property
    def summary(self) -> str:
        """The known ending and latency as text; may be empty."""
        latency = None if self.latency_s is None else f"{self.latency_s:.1f} s"
        return ", ".join(filter(None, (self.ending, latency)))


type Outcome = Annotated[Counted | Void | Unscored, Field(discriminator="outcome")]

outcome_adapter: TypeAdapter[Outcome] = TypeAdapter(Outcome)
