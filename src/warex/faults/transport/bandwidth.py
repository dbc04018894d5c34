"""A line of few bytes a second."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, get_args, override

from pydantic import Field, model_validator

from warex.effects import Sharing, Throttle
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.seeds import KeyedRng

type Profile = Literal["3g", "4g", "dsl", "edge"]
type Rate = Annotated[float, Field(ge=1, le=1_000_000_000, allow_inf_nan=False, strict=True)]
"""Bytes a second: from 1 to a billion."""


class Line(NamedTuple):
    """What a line of a kind can do."""

    down: float
    """Bytes a second to the client."""
    up: float
    """Bytes a second from it."""
    round_trip: float
    """Seconds."""


PROFILES: Final[Mapping[str, Line]] = {
    "3g": Line(200_000, 96_000, 0.3),
    "4g": Line(1_125_000, 1_125_000, 0.17),
    "dsl": Line(187_500, 48_000, 0.05),
    "edge": Line(30_000, 25_000, 0.84),
}
"""WebPageTest's profiles of connectivity: Mobile 3G (1.6 Mbit/s down, 768 kbit/s up, 300 ms round
trip), 4G (9 and 9 Mbit/s, 170 ms), DSL (1.5 Mbit/s and 384 kbit/s, 50 ms), Mobile EDGE (240 and 200
kbit/s, 840 ms)."""
assert PROFILES.keys() == set(get_args(Profile.__value__))


def _usual_profile(values: Mapping[str, Any]) -> Profile | None:
    return "3g" if values.get("down") is None and values.get("up") is None else None


def _usual_delay(values: Mapping[str, Any]) -> float:
    line = PROFILES.get(values.get("profile") or "")
    return 0.0 if line is None else line.round_trip


class Bandwidth(HeldFault, frozen=True):
    """Let bodies, and the messages of WebSockets, through at a limited rate."""

    summary: ClassVar = "Limit answers and requests to a few bytes a second."

    kind: Literal["bandwidth"] = "bandwidth"
    stage: Literal["request"] = "request"
    down: Rate | None = Field(
        default=None,
        description="Bytes a second of the bodies of answers, and of a WebSocket's messages to"
        " the client; null: the profile's.",
    )
    up: Rate | None = Field(
        default=None,
        description="Bytes a second of the bodies of requests, and of a WebSocket's messages to"
        " the site; null: the profile's.",
    )
    profile: Profile | None = Field(
        default_factory=_usual_profile,
        description="A kind of line, for what of down, up and delay is not given. Left out: 3g, if"
        " neither down nor up is given.",
    )
    burst: Annotated[int, Field(ge=0, le=1_000_000_000, strict=True)] = Field(
        default=0, description="Bytes that pass at once after a silence."
    )
    scope: Sharing = Field(
        default="all",
        description="One limit for all exchanges of the rule together, or one for each connection"
        " of the client.",
    )
    delay: Seconds = Field(
        default_factory=_usual_delay,
        description="How long each exchange is held first, in seconds. Left out: the round trip of"
        " the profile, or 0.",
    )

    @model_validator(mode="after")
    def _limits_something(self) -> Self:
        if self.profile is None and self.down is None and self.up is None:
            raise ValueError("profile, down and up are all null, so nothing is limited; give one")
        return self

    @property
    def rates(self) -> tuple[float | None, float | None]:
        """Bytes a second down and up; None for no limit."""
        line = PROFILES.get(self.profile or "")
        if line is None:
            return self.down, self.up
        return (
            line.down if self.down is None else self.down,
            line.up if self.up is None else self.up,
        )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Hold the exchange, then limit its bodies."""
        down, up = self.rates
        return (*self.hold_effects, Throttle(down, up, self.burst, self.scope)), state

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "sends an answer at a limited rate"

    @override
    def outcome(self) -> str:
        down, up = self.rates
        rates = [f"{rate:g} bytes/s {way}" for rate, way in ((down, "down"), (up, "up")) if rate]
        shared = "all together" if self.scope == "all" else "for each connection"
        return f"let through at {' and '.join(rates)}, {shared}"
