"""What a shop's items cost is different from one place of the shop on."""

from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Literal, override

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from warex.effects import Rewrite
from warex.exchange import Exchange, Resource, resource_of
from warex.faults.base import EffectsAndState, FaultState, PageFault, run_in_page
from warex.faults.world.items import item_of
from warex.rewriting.baskets import PAGE_BASKET
from warex.rewriting.baskets.changed_price import PLACES, ChangedPrice, Place, Pricing
from warex.seeds import KeyedRng

_WHY_NOTHING: Final = {
    "no_price": "the page has neither the price of one item nor a basket that adds up",
    "too_early": "the price is another one only later in the shop",
    "unexplained": "the basket's total is more than its parts explain",
}
"""Why a page has nothing to change."""
_MILLIONTHS: Final = 1_000_000


def _usual_factor(values: dict[str, Any]) -> float | None:
    return 1.2 if values.get("amount") is None else None


class PriceChange(PageFault, frozen=True):
    """Change the prices of a page, or of the data that it asks for; all totals agree."""

    summary: ClassVar = "Change the price of items from the product's page, basket or checkout on."
    category: ClassVar = "change"
    default_resource: ClassVar[tuple[Resource, ...]] = ("document", "xhr")

    kind: Literal["price_change"] = "price_change"
    since: Place = Field(
        default="basket",
        description="From where on: the page of an item, the basket, or the checkout. Before that,"
        " and in lists, the old price stays.",
    )
    amount: Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)] | None = Field(
        default=None,
        description="What is added to the price of each item, in the shop's currency.",
    )
    factor: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] | None = Field(
        default_factory=_usual_factor,
        description="What the price of each item is multiplied by; left out, 1.2 unless an amount"
        " is given.",
    )

    @field_validator("factor")
    @classmethod
    def _require_change(cls, factor: float | None, info: ValidationInfo) -> float | None:
        amount = info.data.get("amount")
        if factor is not None and amount is not None:
            raise ValueError(f"the amount {amount:g} is given, too; leave out one of the two")
        if factor is None and amount is None:
            raise ValueError("there is neither a factor nor an amount; give one")
        if factor == 1:
            raise ValueError("so every price stays what it is; give another factor")
        return factor

    @field_validator("amount")
    @classmethod
    def _something(cls, amount: float | None) -> float | None:
        if amount == 0:
            raise ValueError("so every price stays what it is; give another amount")
        return amount

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Change what a page shows, or what data holds."""
        request = exchange.request
        sites: list[JsonValue] = [*_sites(state)]
        if request.parts.netloc not in sites:
            sites.append(request.parts.netloc)
        known: FaultState = {**state, "sites": sites}
        amount = None if self.amount is None else Decimal(str(self.amount))
        factor = Decimal(1) if self.factor is None else Decimal(str(self.factor))
        if resource_of(request) == "xhr":
            pricing = Pricing(factor, amount)
            return (
                Rewrite(ChangedPrice("replaced", rng, pricing=pricing, since=self.since)),
            ), known
        settings: dict[str, JsonValue] = {
            "after": 0,
            "factor": round(factor * _MILLIONTHS),
            "amount": None if amount is None else round(amount * 100),
            "since": PLACES.index(self.since),
            "isItem": item_of(request) is not None,
            "store": rng.hex_word("store"),
        }
        helpers = (PAGE_BASKET,)
        return run_in_page(__name__, settings, known, rng, helpers, details=_WHY_NOTHING)

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the prices of this shop are others."""
        return self.reaches(exchange, state)

    @override
    def reaches(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether this is another page of the shop, or data of it."""
        request = exchange.request
        if request.parts.netloc not in _sites(state):
            return False
        return request.is_top_level or resource_of(request) == "xhr"

    @override
    def outcome(self) -> str:
        places = {
            "detail": "an item's own page",
            "basket": "the basket",
            "checkout": "the checkout",
        }
        how = (
            f"by {self.amount:+g}" if self.amount is not None else f"{self.factor:g} times as much"
        )
        changed = f"cost {how}" if self.amount is None else f"differ {how}"
        return f"shows prices that {changed} from {places[self.since]} on, with totals that agree"


def _sites(state: FaultState) -> list[str]:
    sites = state.get("sites")
    return [str(it) for it in sites] if isinstance(sites, list) else []
