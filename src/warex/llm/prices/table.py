"""Computes the cost of a call from a dated table of list prices in USD per million tokens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Self

from pydantic import BaseModel, Discriminator, Field, JsonValue, Tag, model_validator

from warex.llm.base import Usage
from warex.text.lazy_pattern import lazy_re

_PER = 1_000_000
_DATED = lazy_re(r"[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3}|latest)$")
"""Version suffixes of models; versions with other prices have their own entries."""
TIER = r"^[a-z][a-z0-9_-]{0,31}$"
"""The form of a service tier's name."""
_GLOB = lazy_re(r"[*?[]")

type Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars per million tokens."""


class Rates(BaseModel, frozen=True, extra="forbid"):
    """What tokens cost, in US dollars per million."""

    input: Usd = Field(description="Price of input tokens.")
    output: Usd = Field(description="Price of output tokens, reasoning included.")
    cache_read: Usd | None = Field(
        default=None, description="Price of tokens read from a cache; left out, as other input."
    )
    cache_write: Usd | None = Field(
        default=None, description="Price of tokens written to a cache; left out, as other input."
    )
    cache_write_1h: Usd | None = Field(
        default=None,
        description="Price of tokens written to a cache for an hour; left out, as `cache_write`.",
    )

    @property
    def of_cache_read(self) -> float:
        """Of what is read out of a cache."""
        return self.input if self.cache_read is None else self.cache_read

    @property
    def of_cache_write(self) -> float:
        """Of what is put into a cache."""
        return self.input if self.cache_write is None else self.cache_write

    @property
    def of_cache_write_1h(self) -> float:
        """Of what is put into a cache for an hour."""
        return self.of_cache_write if self.cache_write_1h is None else self.cache_write_1h


class LongPrompt(Rates, frozen=True, extra="forbid"):
    """What a call costs, all of it, when its prompt is long."""

    tokens: Annotated[int, Field(gt=0)] = Field(
        description="A prompt of more tokens than these is long, cached ones included."
    )


class TierPrice(Rates, frozen=True, extra="forbid"):
    """What a model's tokens cost at one service tier, in US dollars per million."""

    above: LongPrompt | None = Field(
        default=None, description="What a call costs when its prompt is longer than `tokens`."
    )

    def at_length(self, usage: Usage) -> Rates:
        """Return the rates for all tokens of a call with a prompt of this length."""
        return self.above if self.above and usage.input_total > self.above.tokens else self


class Price(TierPrice, frozen=True, extra="forbid"):
    """What a model's tokens cost, in US dollars per million."""

    tiers: dict[Annotated[str, Field(pattern=TIER)], TierPrice] = Field(
        default={},
        description="Prices at other service tiers, by the API's name: `flex`, `batch`,"
        " `priority`…",
    )

    def rates(self, usage: Usage) -> Rates | None:
        """Return the rates for a usage; None if its tier has no known price."""
        if not usage.tier:
            return self.at_length(usage)
        tier = self.tiers.get(usage.tier)
        if tier is None or (tier.above is None and self.at_length(usage) is not self):
            return None
        return tier.at_length(usage)


class PricedAs(BaseModel, frozen=True, extra="forbid"):
    """A model without a price, such as a scripted one: counted at the price of another."""

    as_if: str


def _kind(entry: JsonValue | Price | PricedAs) -> str:
    borrowed = isinstance(entry, PricedAs) or (isinstance(entry, dict) and "as_if" in entry)
    return "as_if" if borrowed else "price"


type Entry = Annotated[
    Annotated[Price, Tag("price")] | Annotated[PricedAs, Tag("as_if")], Discriminator(_kind)
]
"""What a table says of one model."""


class PriceTable(BaseModel, frozen=True, extra="forbid"):
    """List prices of one day; a name may be a glob such as ``scripted:*``."""

    date: date
    source: str = "unknown"
    """Where they come from: WAREX itself, addresses, files."""
    models: dict[str, Entry]

    @model_validator(mode="after")
    def _as_if_leads_to_a_price(self) -> Self:
        for name, entry in self.models.items():
            if isinstance(entry, PricedAs) and not isinstance(self.models.get(entry.as_if), Price):
                raise ValueError(
                    f"{name!r} is priced as if it were {entry.as_if!r}, which has no price in the"
                    " table"
                )
        return self

    def with_own(self, own: Mapping[str, Price]) -> "PriceTable":
        """Return this table with a user's entries, which take precedence."""
        if not own:
            return self
        others = {name: entry for name, entry in self.models.items() if name not in own}
        return self.model_copy(update={"models": {**own, **others}})

    def json_bytes(self) -> bytes:
        """Return the content of its file."""
        return self.model_dump_json(indent=1, exclude_defaults=True).encode()

    @property
    def digest(self) -> str:
        """SHA-256 of the prices, in hex."""
        prices = self.model_dump(mode="json", include={"models"}, exclude_defaults=True)
        return sha256(json.dumps(prices, sort_keys=True).encode()).hexdigest()

    def entry(self, model: str) -> Entry | None:
        """Return the entry of a model as a trace names it, or None.

        ``openai/gpt-4o-2024-08-06`` is looked up as it is, then without provider, then without
        date; exact names take precedence over globs, which apply in the table's order.
        """
        bare = model.rpartition("/")[2]
        names = (model, bare, _DATED.sub("", bare))
        for name in names:
            if name in self.models:
                return self.models[name]
        for pattern, entry in self.models.items():
            if _GLOB.search(pattern) and any(fnmatchcase(name, pattern) for name in names):
                return entry
        return None

    def price(self, model: str) -> Price | None:
        """Return the price of a model as a trace names it; None if unknown."""
        entry = self.entry(model)
        price = self.models[entry.as_if] if isinstance(entry, PricedAs) else entry
        return price if isinstance(price, Price) else None

    def rates(self, model: str, usage: Usage) -> Rates | None:
        """Return the rates of a call; None if the model or its service tier has no price."""
        price = self.price(model)
        return price.rates(usage) if price is not None else None


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a call in US dollars, and the model whose price applies if it is another one."""

    usd: float
    as_if: str | None = None


def price_key(model: str, tier: str) -> str:
    """Return a model's name, with the service tier unless it is the default."""
    return f"{model} (tier {tier})" if tier else model


def cost(model: str, usage: Usage, table: PriceTable) -> Cost | None:
    """Return the cost of ``usage`` of ``model``; None if the table lacks the model or its tier."""
    entry, rates = table.entry(model), table.rates(model, usage)
    if rates is None:
        return None
    total = (
        usage.input_plain * rates.input
        + usage.cache_read * rates.of_cache_read
        + usage.cache_write_5m * rates.of_cache_write
        + usage.cache_write_1h * rates.of_cache_write_1h
        + usage.output_total * rates.output
    )
    return Cost(total / _PER, entry.as_if if isinstance(entry, PricedAs) else None)


@cache
def built_in_prices() -> PriceTable:
    """Return the table in WAREX's package."""
    return PriceTable.model_validate_json((files(__package__) / "builtin.json").read_bytes())
