"""The cart and the way from it to an order, over as many pages as the brand has."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.shop.base_view import BaseView
from warex_testbed.sites.shop.brand import Section
from warex_testbed.sites.shop.forms import (
    Problems,
    read_address,
    read_delivery,
    read_payment,
    read_quantity,
)
from warex_testbed.sites.shop.model import TODAY, Checkout, Line, Order, Refused
from warex_testbed.web import as_json, form, json_fields, route, see_other


class CheckoutViews:
    """The pages on which a visitor buys, and what their scripts call."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/cart", self._cart),
            route("POST", "/cart", self._add),
            route("POST", "/cart/lines/{id:int}", self._change),
            route("POST", "/cart/lines/{id:int}/remove", self._remove),
            route("POST", "/cart/voucher", self._redeem),
            route("POST", "/cart/voucher/remove", self._forget_voucher),
            route("GET", "/checkout", self._begin),
            route("GET", "/checkout/{id:int}", self._step),
            route("POST", "/checkout/{id:int}", self._submit),
            route("GET", "/checkout/done/{id:int}", self._done),
            route("POST", "/api/cart", self._api_add),
            route("POST", "/api/cart/{id:int}", self._api_change),
            route("DELETE", "/api/cart/{id:int}", self._api_remove),
        )

    # The cart

    def _cart(
        self,
        request: Request,
        problem: str = "",
        code: str = "",
    ) -> Response:
        return self._view.page(
            "cart.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
            lines=self._view.shop.cart,
            problem=problem,
            code=code,
            sums=self._sums(self._view.shop.cart),
        )

    def _add(self, request: Request) -> Response:
        fields = form(request)
        try:
            line = self._into_cart(fields)
        except Refused as refusal:
            number = int(fields["product"])
            return self._view.page(
                "product.html",
                request,
                HTTPStatus.UNPROCESSABLE_ENTITY,
                product=self._view.shop.products[number],
                tab="details",
                near=[],
                problems={"add": str(refusal)},
                chosen=fields,
            )
        target = "/cart" if self._view.brand.after_adding == "cart" else f"/products/{line.product}"
        return see_other(f"{target}?done=added")

    def _into_cart(self, fields: Mapping[str, Any]) -> Line:
        """Raise KeyError for an unknown product, Refused for what is sold out."""
        number = str(fields.get("product", ""))
        if not number.isdecimal():
            raise KeyError(number)
        product = self._view.shop.products[int(number)]
        variant = product.variant({key: str(value) for key, value in fields.items()})
        return self._view.shop.add(product.id, variant, read_quantity(fields))

    def _change(self, request: Request, number: int) -> Response:
        try:
            self._view.shop.set_quantity(number - 1, read_quantity(form(request)))
        except Refused as refusal:
            return self._cart(request, str(refusal))
        return see_other("/cart?done=changed")

    def _remove(self, request: Request, number: int) -> Response:
        self._view.shop.set_quantity(number - 1, 0)
        return see_other("/cart?done=removed")

    def _redeem(self, request: Request) -> Response:
        code = form(request).get("code", "")
        voucher = self._view.brand.voucher(code)
        if voucher is None:
            return self._cart(request, self._view.brand.words["voucher_unknown"], code)
        if sum(line.total for line in self._view.shop.cart) < voucher.minimum:
            least = self._view.brand.money(voucher.minimum)
            return self._cart(request, f"{voucher.code} is valid from {least} on.", code)
        self._view.shop.voucher = voucher.code
        return see_other("/cart?done=redeemed")

    def _forget_voucher(self, request: Request) -> Response:
        self._view.shop.voucher = ""
        return see_other("/cart")

    def _api_add(self, request: Request) -> Response:
        try:
            self._into_cart(json_fields(request))
        except Refused as refusal:
            return as_json({"error": str(refusal)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        return as_json(
            {
                "label": self._view.cart_label(),
                "pieces": self._view.shop.pieces,
                "total": self._view.brand.money(self._sums(self._view.shop.cart)["goods"]),
                "message": self._view.brand.done["added"],
            },
            HTTPStatus.CREATED,
        )

    def _api_change(self, request: Request, number: int) -> Response:
        try:
            self._view.shop.set_quantity(number - 1, read_quantity(json_fields(request)))
        except Refused as refusal:
            return as_json({"error": str(refusal)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        return as_json({"location": "/cart?done=changed"})

    def _api_remove(self, request: Request, number: int) -> Response:
        self._view.shop.set_quantity(number - 1, 0)
        return as_json({"location": "/cart?done=removed"})

    # Checkout

    def _begin(self, request: Request) -> Response:
        return see_other("/checkout/1" if self._view.shop.cart else "/cart")

    def _step(self, request: Request, number: int) -> Response:
        self._sections(number)  # a page that the brand lacks has no sections
        if not self._view.shop.cart:
            return see_other("/cart")
        first = self._first_open()
        if number > first:
            return see_other(f"/checkout/{first}")
        return self._form(request, number, self._known(), {})

    def _form(
        self,
        request: Request,
        number: int,
        fields: Mapping[str, str],
        problems: Mapping[str, str],
    ) -> Response:
        delivery = fields.get("delivery", "")
        return self._view.page(
            "checkout.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            number=number,
            sections=self._sections(number),
            lines=self._view.shop.cart,
            items=json.dumps([(e.product, e.variant, e.quantity) for e in self._view.shop.cart]),
            fields=fields,
            problems=problems,
            told=self._view.shop.checkout,
            sums=self._sums(self._view.shop.cart, delivery),
        )

    def _submit(self, request: Request, number: int) -> Response:
        fields, checkout = form(request), self._view.shop.checkout
        problems: dict[str, str] = {}
        for section in self._sections(number):
            try:
                checkout = self._with(checkout, section, fields)
            except Problems as wrong:
                problems |= wrong.sentences
        if problems:
            return self._form(request, number, fields, problems)
        self._view.shop.checkout = checkout
        if number < len(self._view.brand.checkout):
            return see_other(f"/checkout/{number + 1}")
        return self._place(request, fields)

    def _with(self, checkout: Checkout, section: Section, fields: Mapping[str, str]) -> Checkout:
        match section:
            case "address":
                return replace(checkout, address=read_address(fields, self._view.brand))
            case "delivery":
                return replace(checkout, delivery=read_delivery(fields, self._view.brand))
            case "payment":
                return replace(checkout, payment=read_payment(fields, self._view.brand))
            case "review":
                return checkout

    def _place(self, request: Request, fields: Mapping[str, str]) -> Response:
        """Buy what the page showed: sent again, the same form buys the same things again."""
        checkout = self._view.shop.checkout
        delivery = self._view.brand.delivery(checkout.delivery)
        if checkout.address is None or delivery is None or not checkout.payment:
            return see_other(f"/checkout/{self._first_open()}")
        try:
            lines = tuple(self._view.shop.line(*each) for each in _items(fields.get("items", "")))
        except Refused as refusal:
            return self._cart(request, str(refusal))
        goods = sum(line.total for line in lines)
        voucher = self._view.brand.voucher(fields.get("voucher", ""))
        order = self._view.shop.place(
            Order(
                number=0,
                placed=TODAY,
                status="processing",
                lines=lines,
                address=checkout.address,
                delivery=checkout.delivery,
                payment=checkout.payment,
                shipping=delivery.cost(goods),
                discount=voucher.discount(goods) if voucher else 0,
                voucher=voucher.code if voucher else "",
            )
        )
        return see_other(f"/checkout/done/{order.number}")

    def _done(self, request: Request, number: int) -> Response:
        return self._view.page("thanks.html", request, order=self._view.shop.orders[number])

    def _sections(self, number: int) -> tuple[Section, ...]:
        if not 1 <= number <= len(self._view.brand.checkout):
            raise KeyError(number)
        return self._view.brand.checkout[number - 1]

    def _first_open(self) -> int:
        """Return the first page of the checkout that was not filled in yet, or the last one."""
        checkout = self._view.shop.checkout
        known = {
            "address": checkout.address,
            "delivery": checkout.delivery,
            "payment": checkout.payment,
        }
        for number, sections in enumerate(self._view.brand.checkout, start=1):
            if not all(section == "review" or known[section] for section in sections):
                return number
        return len(self._view.brand.checkout)

    def _known(self) -> dict[str, str]:
        shop, checkout = self._view.shop, self._view.shop.checkout
        address = checkout.address
        if address is None and self._view.brand.prefilled:
            address = shop.addresses.get(shop.default_address)
        fields = asdict(address) if address else {}
        return fields | {"delivery": checkout.delivery or self._view.brand.deliveries[0].name}

    def _sums(self, lines: list[Line], delivery: str = "") -> dict[str, int]:
        goods = sum(line.total for line in lines)
        chosen = self._view.brand.delivery(delivery) or self._view.brand.deliveries[0]
        voucher = self._view.brand.voucher(self._view.shop.voucher)
        discount = voucher.discount(goods) if voucher else 0
        shipping = chosen.cost(goods) if lines else 0
        return {
            "goods": goods,
            "discount": discount,
            "shipping": shipping,
            "total": goods - discount + shipping,
        }


def _items(text: str) -> list[tuple[int, str, int]]:
    """Read the products, variants and quantities of an order form; raises Refused."""
    try:
        items = [
            (int(number), str(variant), int(count)) for number, variant, count in json.loads(text)
        ]
    except (ValueError, TypeError, RecursionError) as error:
        raise Refused("There was nothing to order.") from error
    if not items:
        raise Refused("There was nothing to order.")
    return items
