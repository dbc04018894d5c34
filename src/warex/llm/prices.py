"""What a call costs, from a dated table of list prices in USD per million tokens."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    JsonValue,
    Tag,
    model_validator,
)

from warex.llm.base import Usage

_PER = 1_000_000
_DATED = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3}|latest)$")
"""How vendors name one version of a model; versions of other prices have entries of their own."""

type Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars per million tokens."""


class Price(BaseModel, frozen=True, extra="forbid"):
    """What a model's tokens cost, in US dollars per million."""

    input: Usd = Field(description="Of what is read.")
    output: Usd = Field(description="Of what is written, thoughts included.")
    cache_read: Usd | None = Field(
        default=None, description="Of what is read out of a cache; left out, as other input."
    )
    cache_write: Usd | None = Field(
        default=None, description="Of what is put into a cache; left out, as other input."
    )

    @property
    def of_cache_read(self) -> float:
        """Of what is read out of a cache."""
        return self.input if self.cache_read is None else self.cache_read

    @property
    def of_cache_write(self) -> float:
        """Of what is put into a cache."""
        return self.input if self.cache_write is None else self.cache_write


class AsIf(BaseModel, frozen=True, extra="forbid"):
    """A model without a price, such as a scripted one: counted at the price of another."""

    as_if: str


def _kind(entry: JsonValue | Price | AsIf) -> str:
    borrowed = isinstance(entry, AsIf) or (isinstance(entry, dict) and "as_if" in entry)
    return "as_if" if borrowed else "price"


type Entry = Annotated[
    Annotated[Price, Tag("price")] | Annotated[AsIf, Tag("as_if")], Discriminator(_kind)
]
"""What a table says of one model."""


class PriceTable(BaseModel, frozen=True, extra="forbid"):
    """List prices of one day; a name may be a glob such as ``scripted:*``."""

    date: date
    models: dict[str, Entry]

    @model_validator(mode="after")
    def _as_if_leads_to_a_price(self) -> Self:
        for name, entry in self.models.items():
            if isinstance(entry, AsIf) and not isinstance(self.models.get(entry.as_if), Price):
                raise ValueError(
                    f"{name!r} is priced as if it were {entry.as_if!r}, which has no price in the"
                    f" table"
                )
        return self

    def with_own(self, own: Mapping[str, Price]) -> "PriceTable":
        """Return this table with entries of a user's own, which go before its own."""
        if not own:
            return self
        others = {name: entry for name, entry in self.models.items() if name not in own}
        return PriceTable(date=self.date, models={**own, **others})

    def entry(self, model: str) -> Entry | None:
        """Return what the table says of a model as a trace names it, or None.

        ``openai/gpt-4o-2024-08-06`` is looked up as it stands, then without provider, then
        without date; exact names go before globs, and globs in the order of the table.
        """
        bare = model.rpartition("/")[2]
        names = (model, bare, _DATED.sub("", bare))
        for name in names:
            if name in self.models:
                return self.models[name]
        for pattern, entry in self.models.items():
            if any(fnmatchcase(name, pattern) for name in names):
                return entry
        return None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call costs in US dollars, and at whose price if not its own."""

    usd: float
    as_if: str | None = None


def cost(model: str, usage: Usage, table: PriceTable) -> Cost | None:
    """Return what ``usage`` of ``model`` costs; None if the table does not know the model."""
    entry = table.entry(model)
    if entry is None:
        return None
    as_if = entry.as_if if isinstance(entry, AsIf) else None
    price = table.models[entry.as_if] if isinstance(entry, AsIf) else entry
    if not isinstance(price, Price):
        return None
    total = (
        usage.input_plain * price.input
        + usage.cache_read * price.of_cache_read
        + usage.cache_write * price.of_cache_write
        + usage.output_total * price.output
    )
    return Cost(total / _PER, as_if)


@cache
def built_in_prices() -> PriceTable:
    """Return the table WAREX comes with."""
    return PriceTable.model_validate_json((files("warex.llm") / "prices.json").read_bytes())
