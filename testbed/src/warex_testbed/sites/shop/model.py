"""What a shop sells and holds, and what may be done to it. No clock: `TODAY` is always the same."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

TODAY = dt.date(2026, 6, 10)
"""The site's present day, a Wednesday."""

OWNER = "Alex Moreau"
"""Who is signed in."""

RETURN_DAYS = 30
"""Days after the order in which a delivered item may be sent back."""

SOLD_OUT = "This product is sold out."

MOST = 99
"""The largest quantity of one item."""

type Status = Literal["processing", "shipped", "delivered", "cancelled"]


class Refused(Exception):
    """What the shop will not do, in a sentence for the visitor."""


@dataclass(frozen=True, slots=True)
class Review:
    """One review; `stars` from 1 to 5."""

    by: str
    stars: int
    title: str
    text: str
    date: dt.date


@dataclass(frozen=True, slots=True)
class Question:
    """One question about a product; an empty `answer` is still to come."""

    text: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """One product. Money is whole cents; `stock` counts pieces of every variant.

    `options` are what a buyer chooses, `extra` what a choice adds to the price, and `sold_out` the
    variants ("Blue / M") that are not to be had.
    """

    id: int
    name: str
    maker: str
    department: str
    price: int
    art: str
    tint: str
    text: str
    was: int = 0
    unit: str = ""
    stock: int = 20
    rating: float = 4.0
    rated: int = 0
    tags: tuple[str, ...] = ()
    specs: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: Mapping[str, int] = field(default_factory=dict)
    sold_out: tuple[str, ...] = ()
    reviews: tuple[Review, ...] = ()
    questions: tuple[Question, ...] = ()

    def cost(self, variant: str = "") -> int:
        """Return what one piece of a variant costs, in cents."""
        return self.price + sum(self.extra.get(choice, 0) for choice in variant.split(" / "))

    def variant(self, chosen: Mapping[str, str]) -> str:
        """Return the variant of a choice for each option; raises Refused when one is missing."""
        for option, values in self.options.items():
            if chosen.get(option) not in values:
                raise Refused(f"Please choose a {option.lower()}.")
        variant = " / ".join(chosen[option] for option in self.options)
        if not self.available(variant):
            raise Refused(f"{self.name} in {variant} is sold out." if variant else SOLD_OUT)
        return variant

    def available(self, variant: str = "") -> bool:
        """Say whether a variant can be bought; a single sold-out choice ("M") rules out too."""
        return self.stock > 0 and not {variant, *variant.split(" / ")} & set(self.sold_out)


@dataclass(frozen=True, slots=True)
class Line:
    """Some pieces of one variant; `price` is the price of one, in cents."""

    product: int
    name: str
    variant: str
    quantity: int
    price: int

    @property
    def total(self) -> int:
        """The price of all its pieces."""
        return self.price * self.quantity

    def as_json(self) -> dict[str, Any]:
        """Return what a check asks about: no numbers that only the shop knows."""
        return {"product": self.name, "variant": self.variant, "quantity": self.quantity}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a parcel goes."""

    name: str
    street: str
    city: str
    postcode: str
    phone: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """One order; money in cents, `shipping` added and `discount` taken off."""

    number: int
    placed: dt.date
    status: Status
    lines: tuple[Line, ...]
    address: Address
    delivery: str
    payment: str
    shipping: int = 0
    discount: int = 0
    voucher: str = ""

    @property
    def goods(self) -> int:
        """The price of all lines."""
        return sum(line.total for line in self.lines)

    @property
    def total(self) -> int:
        """What is to be paid."""
        return self.goods - self.discount + self.shipping

    @property
    def returnable(self) -> bool:
        """Whether its items may still be sent back."""
        return self.status == "delivered" and (TODAY - self.placed).days <= RETURN_DAYS

    def as_json(self) -> dict[str, Any]:
        """Return it flat, with the address's fields and the total as `12.34`."""
        return asdict(self.address) | {
            "number": self.number,
            "placed": self.placed.isoformat(),
            "status": self.status,
            "items": [line.as_json() for line in self.lines],
            "delivery": self.delivery,
            "payment": self.payment,
            "voucher": self.voucher,
            "total": decimal(self.total),
        }


@dataclass(frozen=True, slots=True)
class Return:
    """One line of an order that was reported for return."""

    order: int
    product: str
    variant: str
    reason: str
    refund: str


@dataclass(frozen=True, slots=True)
class Checkout:
    """What the visitor has entered so far on the way to an order."""

    address: Address | None = None
    delivery: str = ""
    payment: str = ""


def decimal(cents: int) -> str:
    """`1299.00`."""
    return f"{cents // 100}.{cents % 100:02}"


@dataclass(slots=True)
class Shop:
    """All state of one instance of the site; the products are shared and never change."""

    products: Mapping[int, Product]
    cart: list[Line] = field(default_factory=list)
    voucher: str = ""
    checkout: Checkout = field(default_factory=Checkout)
    orders: dict[int, Order] = field(default_factory=dict)
    returns: list[Return] = field(default_factory=list)
    addresses: dict[int, Address] = field(default_factory=dict)
    default_address: int = 1
    wishlist: list[int] = field(default_factory=list)
    reviews: dict[int, list[Review]] = field(default_factory=dict)
    questions: dict[int, list[Question]] = field(default_factory=dict)

    @property
    def pieces(self) -> int:
        """How many pieces are in the cart."""
        return sum(line.quantity for line in self.cart)

    def line(self, product: int, variant: str, quantity: int) -> Line:
        """Return a line at today's price; raises KeyError, or Refused for a wrong quantity."""
        wanted = self.products[product]
        if not wanted.available(variant):
            raise Refused(SOLD_OUT)
        if not 1 <= quantity <= MOST:
            raise Refused(f"Enter a quantity from 1 to {MOST}.")
        if quantity > wanted.stock:
            raise Refused(f"Only {wanted.stock} of {wanted.name} are left.")
        return Line(product, wanted.name, variant, quantity, wanted.cost(variant))

    def add(self, product: int, variant: str, quantity: int) -> Line:
        """Put pieces into the cart, on top of those of the same variant."""
        added = self.line(product, variant, quantity)
        for index, line in enumerate(self.cart):
            if (line.product, line.variant) == (product, variant):
                self.cart[index] = self.line(product, variant, line.quantity + quantity)
                return self.cart[index]
        self.cart.append(added)
        return self.cart[-1]

    def set_quantity(self, index: int, quantity: int) -> None:
        """Change a line of the cart (counted from 0); 0 takes it out. Raises KeyError, Refused."""
        line = self.cart_line(index)
        if quantity == 0:
            del self.cart[index]
        else:
            self.cart[index] = self.line(line.product, line.variant, quantity)

    def cart_line(self, index: int) -> Line:
        """Return a line of the cart; raises KeyError when there is none of that place."""
        if not 0 <= index < len(self.cart):
            raise KeyError(index)
        return self.cart[index]

    def place(self, order: Order) -> Order:
        """Keep an order under the next number and empty the cart.

        What was entered at the checkout stays: the next one begins with it.
        """
        number = max(self.orders, default=0) + 1
        self.orders[number] = replace(order, number=number)
        self.cart, self.voucher = [], ""
        return self.orders[number]

    def cancel(self, number: int) -> Order:
        """Cancel an order that has not left; raises KeyError, Refused."""
        if self.orders[number].status != "processing":
            raise Refused("Only an order that is still being prepared can be cancelled.")
        self.orders[number] = replace(self.orders[number], status="cancelled")
        return self.orders[number]

    def send_back(self, number: int, index: int, reason: str, refund: str) -> Return:
        """Report a line of an order (from 0) for return; raises KeyError, Refused."""
        order = self.orders[number]
        if not order.returnable or not 0 <= index < len(order.lines):
            raise Refused("This item can no longer be returned.")
        line = order.lines[index]
        if (number, line.product, line.variant) in self.on_their_way_back():
            raise Refused("This item was reported for return already.")
        self.returns.append(Return(number, line.name, line.variant, reason, refund))
        return self.returns[-1]

    def on_their_way_back(self) -> set[tuple[int, int, str]]:
        """Return order, product and variant of everything that was reported for return."""
        named = {product.name: product.id for product in self.products.values()}
        return {(each.order, named[each.product], each.variant) for each in self.returns}

    def reviews_of(self, product: Product) -> list[Review]:
        """Return the visitor's own reviews, then those of others."""
        return [*reversed(self.reviews.get(product.id, ())), *product.reviews]

    def questions_of(self, product: Product) -> list[Question]:
        """Return the visitor's own questions, then those of others."""
        return [*reversed(self.questions.get(product.id, ())), *product.questions]

    def newest_orders(self) -> list[Order]:
        """Return the orders, the last one first."""
        return [self.orders[number] for number in sorted(self.orders, reverse=True)]

    def as_json(self) -> dict[str, Any]:
        """Return the whole state, for the verifier; products go by their names."""
        return {
            "today": TODAY.isoformat(),
            "cart": {"items": [line.as_json() for line in self.cart], "voucher": self.voucher},
            "orders": [order.as_json() for order in self.newest_orders()],
            "returns": [asdict(each) for each in self.returns],
            "addresses": [
                asdict(address) | {"default": number == self.default_address}
                for number, address in self.addresses.items()
            ],
            "wishlist": [{"product": self.products[number].name} for number in self.wishlist],
            "reviews": self._own(self.reviews, ("stars", "title", "text")),
            "questions": self._own(self.questions, ("text",)),
        }

    def _own(
        self, entries: Mapping[int, Iterable[Any]], keys: tuple[str, ...]
    ) -> list[dict[str, Any]]:
        return [
            {"product": self.products[number].name} | {key: getattr(each, key) for key in keys}
            for number, written in entries.items()
            for each in written
        ]
