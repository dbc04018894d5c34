"""An exchange is late, and nothing else."""

import math
from collections.abc import Mapping
from hashlib import blake2b
from statistics import NormalDist
from typing import Annotated, Any, ClassVar, Final, Literal, Self, override

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from warex.effects import Delay
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.seeds import KeyedRng

type Distribution = Literal["fixed", "uniform", "normal", "lognormal", "pareto"]
type Shape = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False, strict=True)]

_BELONGS: Final[Mapping[str, tuple[str, ...]]] = {
    "jitter": ("uniform", "normal"),
    "sigma": ("lognormal",),
    "alpha": ("pareto",),
}
"""The distributions that have each parameter."""
_COUNTED: Final = 256
"""Requests whose number is remembered; of a forgotten one the draws begin again."""


def _usual_jitter(values: Mapping[str, Any]) -> float | None:
    delay = values.get("delay")
    has_it = values.get("distribution") in _BELONGS["jitter"]
    return delay / 2 if has_it and isinstance(delay, int | float) else None


def _usual_sigma(values: Mapping[str, Any]) -> float | None:
    return 0.5 if values.get("distribution") == "lognormal" else None


def _usual_alpha(values: Mapping[str, Any]) -> float | None:
    return 2.5 if values.get("distribution") == "pareto" else None


class Latency(HeldFault, frozen=True):
    """Hold an exchange for a time that is fixed or drawn by the seed, then let it pass."""

    summary: ClassVar = "Delay an exchange by a fixed or random time."
    kind: Literal["latency"] = "latency"
    distribution: Distribution = Field(
        default="fixed", description="How the delays of single exchanges are distributed."
    )
    delay: Seconds = Field(
        default=1.0,
        description="Seconds: the delay itself (fixed), the mean (uniform, normal), the median"
        " (lognormal) or the least (pareto).",
    )
    jitter: Seconds | None = Field(
        default_factory=_usual_jitter,
        description="Seconds: half the width of uniform, the standard deviation of normal. Left"
        " out: half the delay.",
    )
    sigma: Shape | None = Field(
        default_factory=_usual_sigma,
        description="The standard deviation of the logarithm, for lognormal. Left out: 0.5.",
    )
    alpha: Shape | None = Field(
        default_factory=_usual_alpha,
        description="The exponent of pareto: the smaller, the longer its tail. Left out: 2.5.",
    )
    at_most: Seconds = Field(
        default=60.0, gt=0, description="The longest delay that is drawn, in seconds."
    )
    scope: Literal["exchange", "connection"] = Field(
        default="exchange",
        description="Whether each exchange is late, or only the first of each connection of the"
        " client.",
    )

    @field_validator("jitter", "sigma", "alpha")
    @classmethod
    def _belongs(cls, value: float | None, info: ValidationInfo) -> float | None:
        distribution = info.data.get("distribution")
        allowed = _BELONGS[info.field_name or ""]
        if value is not None and distribution is not None and distribution not in allowed:
            raise ValueError(
                f"{info.field_name} means nothing with the distribution {distribution}; it goes"
                f" with {' and '.join(allowed)}"
            )
        return value

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Hold the exchange; the delay depends on the seed, the request and its number."""
        if self.distribution == "fixed":
            return self.hold_effects, state
        request = exchange.request
        name = f"{request.method} {request.url}"
        number, state = _next_of(name, state)
        drawn = self.drawn(rng.draw("latency", name, number))
        return (Delay(round(max(0.0, min(drawn, self.at_most)), 6)),), state

    def drawn(self, draw: float) -> float:
        """Return the delay for a draw in [0, 1)."""
        draw = min(max(draw, 1e-12), 1 - 1e-12)
        match self.distribution:
            case "fixed":
                return self.delay
            case "uniform":
                return self.delay + (self.jitter or 0.0) * (2 * draw - 1)
            case "normal":
                return self.delay + (self.jitter or 0.0) * NormalDist().inv_cdf(draw)
            case "lognormal":
                return self.delay * math.exp((self.sigma or 0.0) * NormalDist().inv_cdf(draw))
            case "pareto":
                return self.delay * math.pow(1 - draw, -1 / (self.alpha or 1.0))

    @override
    def with_hold_at_most(self, seconds: float) -> Self:
        limits = {"delay": min(self.delay, seconds)}
        if self.distribution != "fixed":
            limits["at_most"] = min(self.at_most, seconds)
        return self.model_copy(update=limits)

    @override
    def spares(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether it is not the first exchange of its connection."""
        return self.scope == "connection" and not exchange.begins_connection

    @override
    def explain(self) -> str:
        first = ", if it is the first on its connection" if self.scope == "connection" else ""
        if self.distribution == "fixed":
            return f"{super().explain()}{first}"
        late = {
            "uniform": f"for {self.delay:g} s, give or take {self.jitter} s",
            "normal": f"for {self.delay:g} s on average (normal, deviation {self.jitter} s)",
            "lognormal": f"for {self.delay:g} s in the middle (lognormal, sigma {self.sigma})",
            "pareto": f"for {self.delay:g} s at least (pareto, alpha {self.alpha})",
        }
        asked = "handled by the site, " if self.stage == "response" else ""
        return f"is {asked}held {late[self.distribution]} and then {self.outcome()}{first}"

    @override
    def outcome(self) -> str:
        return "let through"


def _next_of(name: str, state: FaultState) -> tuple[int, FaultState]:
    """Return how many such requests there were before, and the state that counts this one."""
    key = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    known = state.get("requests")
    counts: dict[str, JsonValue] = dict(known) if isinstance(known, dict) else {}
    before = counts.pop(key, 0)
    number = before if isinstance(before, int) else 0
    counts[key] = number + 1
    while len(counts) > _COUNTED:
        del counts[next(iter(counts))]
    return number, {**state, "requests": counts}
