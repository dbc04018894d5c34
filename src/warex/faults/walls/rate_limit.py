"""The site's request quota is used up until its window ends."""

from collections.abc import Mapping
from math import ceil
from typing import Annotated, ClassVar, Literal, override

from msgspec.structs import replace
from pydantic import Field

from warex.effects import Reply
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState, Seconds, number_in
from warex.faults.server.http_error import HttpError
from warex.seeds import KeyedRng

type Fields = Literal["ratelimit", "ratelimit_three", "x_ratelimit", "none"]


class RateLimit(Fault, frozen=True):
    """Answer 429 to every matching request, from a hit until the window's end.

    Sources: RFC 6585, section 4 (429); RFC 9110, section 10.2.3 (Retry-After);
    draft-ietf-httpapi-ratelimit-headers (RateLimit; its first drafts had three fields).
    """

    summary: ClassVar = "Refuse all requests by 429 until a quota's window is over."
    category: ClassVar = "quota"
    shows_site: ClassVar = True
    default_resource: ClassVar[tuple[Resource, ...]] = ("document", "xhr")
    sizes: ClassVar = ("window",)

    kind: Literal["rate_limit"] = "rate_limit"
    window: Seconds = Field(
        default=30.0, gt=0, description="Seconds from the first refusal until the site answers."
    )
    limit: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] = Field(
        default=60, description="How many requests a window the headers tell of."
    )
    retry_after: bool = Field(
        default=True, strict=True, description="Whether Retry-After says how long to wait."
    )
    fields: Fields | None = Field(
        default=None,
        description="Which further headers tell of the quota; left out, the seed chooses.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Refuse, and state the remaining seconds of the window."""
        until = number_in(state, "until")
        if exchange.at >= until:
            until = exchange.at + self.window
        left = max(1, ceil(until - exchange.at))
        refusal = HttpError(status=429, retry_after=left if self.retry_after else None)
        (reply, *_), _ = refusal.effects(exchange, {}, rng)
        assert isinstance(reply, Reply)
        headers = {**reply.headers, **self._quota_fields(left, rng)}
        return (replace(reply, headers=headers),), {**state, "until": until}

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the current window has not ended."""
        return exchange.at < number_in(state, "until")

    @property
    @override
    def never_ends(self) -> str:
        """The first request after a window begins the next window."""
        return "as soon as a quota's window is over another one begins, and waiting never helps"

    def _quota_fields(self, left: int, rng: KeyedRng) -> Mapping[str, str]:
        kinds: tuple[Fields, ...] = ("ratelimit", "ratelimit_three", "x_ratelimit")
        match self.fields or rng.choice(kinds, "fields"):
            case "ratelimit":
                policy = f'"default";q={self.limit};w={ceil(self.window)}'
                return {"ratelimit-policy": policy, "ratelimit": f'"default";r=0;t={left}'}
            case "ratelimit_three":
                before = "ratelimit-"
            case "x_ratelimit":
                before = "x-ratelimit-"
            case _:
                return {}
        values = {"limit": self.limit, "remaining": 0, "reset": left}
        return {f"{before}{name}": str(value) for name, value in values.items()}

    @override
    def outcome(self) -> str:
        return f"answered 429, as is everything else that matches within {self.window:g} s"
