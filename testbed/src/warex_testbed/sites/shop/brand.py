"""What tells one shop from another: name, theme, wording, layout, and the terms it sells on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

type Section = Literal["address", "delivery", "payment", "review"]


@dataclass(frozen=True, slots=True)
class Department:
    """One shelf of the shop; `id` stands in its address."""

    id: int
    name: str
    art: str
    tint: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One way to get an order; `price` in cents, 0 from `free_from` on where that is not 0."""

    name: str
    price: int
    note: str
    free_from: int = 0

    def cost(self, goods: int) -> int:
        """Return what it costs for goods of this value, in cents."""
        return 0 if self.free_from and goods >= self.free_from else self.price


@dataclass(frozen=True, slots=True)
class Payment:
    """One way to pay; with `card` the number of one is asked for."""

    name: str
    note: str
    card: bool = False


@dataclass(frozen=True, slots=True)
class Voucher:
    """A code that takes `percent` off goods worth at least `minimum` cents."""

    code: str
    percent: int
    minimum: int = 0

    def discount(self, goods: int) -> int:
        """Return how many cents it takes off."""
        return goods * self.percent // 100 if goods >= self.minimum else 0


@dataclass(frozen=True, slots=True)
class PriceBand:
    """A range of prices that a filter offers, in cents, `below` excluded."""

    name: str
    at_least: int = 0
    below: int = 10**9


@dataclass(frozen=True, slots=True)
class Brand:
    """One shop as its visitors know it.

    `filters` says how lists are narrowed: `side` (boxes beside the grid), `bar` (selects above) or
    `chips` (links above); `listing` whether products stand in a grid or in rows. With `adding` by
    `script` the button does nothing until the scripts have come, and `browsing` names what else
    they carry out without a new page: the filters of a list, or the tabs of a product. `checkout`
    is its pages, each with its sections; `postcode` a regular expression.
    """

    name: str
    theme: str
    currency: str
    prefix: str
    postcode: str
    postcode_example: str
    hero: Mapping[str, str]
    promises: tuple[str, ...]
    filters: Literal["side", "bar", "chips"]
    listing: Literal["grid", "rows"]
    adding: Literal["form", "script"]
    after_adding: Literal["cart", "product"]
    browsing: Literal["plain", "filters", "tabs"]
    prefilled: bool
    scripts: tuple[str, ...]
    checkout: tuple[tuple[Section, ...], ...]
    departments: tuple[Department, ...]
    deliveries: tuple[Delivery, ...]
    payments: tuple[Payment, ...]
    vouchers: tuple[Voucher, ...]
    prices: tuple[PriceBand, ...]
    words: Mapping[str, str]
    done: Mapping[str, str]
    tags: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    refunds: tuple[str, ...] = ()

    def money(self, cents: int) -> str:
        """`€1,299.00`."""
        return f"{self.currency}{cents // 100:,}.{cents % 100:02}"

    def order_name(self, number: int) -> str:
        """`VL-10482`."""
        return f"{self.prefix}-{number}"

    def voucher(self, code: str) -> Voucher | None:
        """Return the voucher of a code, in any case; None when there is none."""
        return next((each for each in self.vouchers if each.code == code.strip().upper()), None)

    def delivery(self, name: str) -> Delivery | None:
        """Return the delivery of a name; None when there is none."""
        return next((each for each in self.deliveries if each.name == name), None)

    def payment(self, name: str) -> Payment | None:
        """Return the payment of a name; None when there is none."""
        return next((each for each in self.payments if each.name == name), None)
