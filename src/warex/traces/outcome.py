"""Outcomes of trials. A void one has no score field, so that no average counts it as zero."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

type Ending = Literal[
    "answered",
    "reported_infeasible",
    "step_limit",
    "time_limit",
    "model_error",
    "agent_crashed",
    "harness_crashed",
]
ENDING_WORDS: Final[Mapping[Ending, str]] = {
    "answered": "the agent answered",
    "reported_infeasible": "the agent reported the task as infeasible",
    "step_limit": "the agent used up its steps",
    "time_limit": "the agent used up its time",
    "model_error": "the model failed",
    "agent_crashed": "the agent crashed",
    "harness_crashed": "the harness crashed",
}
"""Each ending, for people."""
CRASHED_BEFORE_A_FAULT = "the harness crashed before any fault was delivered"
"""Beginning of a void outcome's reason if no fault can have caused the crash."""


type _Seconds = Annotated[float, Meta(ge=0)]
_ONLY_IF_SET = ("refused_ports", "died")
"""Fields that are left out when empty."""


class _Ended(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="outcome"):
    @property
    def outcome(self) -> str:
        """Which of the outcomes it is."""
        return str(self.__struct_config__.tag)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data, as it is written."""
        written = msgspec.to_builtins(self)
        return {key: value for key, value in written.items() if key not in _ONLY_IF_SET or value}


class Counted(_Ended, frozen=True, kw_only=True, tag="counted"):
    """The trial ran as planned. Its score counts, however badly the agent did."""

    ending: Ending
    score: Annotated[float, Meta(ge=0, le=1)]
    latency_s: _Seconds
    """Client latency: from the agent's command start to its exit."""
    answer: str | None = None
    reasons: tuple[str, ...] = ()
    """Why the score is what it is, one sentence for each check."""
    refused_ports: tuple[int, ...] = ()
    """As for an unscored one."""

    @property
    def summary(self) -> str:
        """The ending and latency as text."""
        return f"{ENDING_WORDS[self.ending]}, {self.latency_s:.1f} s"

    def __post_init__(self) -> None:
        # Also for what a benchmark of a user's says; NaN is in no range.
        if not 0 <= self.score <= 1:
            raise ValueError(f"a score of {self.score}; it is between 0 and 1")


class Void(_Ended, frozen=True, kw_only=True, tag="void"):
    """The harness broke, so the trial says nothing about the agent. It is run again."""

    reason: str
    died: bool = False
    """Whether a process of WAREX's own was killed; not written where none was."""


class Unscored(_Ended, frozen=True, kw_only=True, tag="unscored"):
    """The trial ran, and has no score."""

    ending: Ending | None = None
    """None if a proxy ran alone, which does not see how the agent stopped."""
    latency_s: _Seconds | None = None
    """As for a counted one; None without a command."""
    refused_ports: tuple[int, ...] = ()
    """Ports of this machine's loopback that the command was refused in its own network; not
    written where there are none."""

    @property
    def summary(self) -> str:
        """The known ending and latency as text; may be empty."""
        latency = None if self.latency_s is None else f"{self.latency_s:.1f} s"
        # Whether a plain command has answered anything is unknown.
        words = {**ENDING_WORDS, "answered": "the agent ended by itself"}
        ending = None if self.ending is None else words[self.ending]
        return ", ".join(filter(None, (ending, latency)))


type Outcome = Counted | Void | Unscored


def outcome_of(written: object) -> Outcome:
    """Return the outcome in plain data; raise ``msgspec.ValidationError`` if there is none."""
    outcome: Outcome = msgspec.convert(written, Counted | Void | Unscored, strict=False)
    return outcome
