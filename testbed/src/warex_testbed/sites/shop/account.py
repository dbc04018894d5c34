"""The visitor's account: orders, cancelling and returning, addresses."""

from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.shop.base_view import BaseView
from warex_testbed.sites.shop.forms import Problems, read_address
from warex_testbed.sites.shop.model import Order, Refused
from warex_testbed.web import form, route, see_other


class Account:
    """The pages about the visitor."""

    def __init__(self, view: BaseView) -> None:
        self._view = view
        self.routes = (
            route("GET", "/account", self._overview),
            route("GET", "/orders", self._orders),
            route("GET", "/orders/{id:int}", self._order),
            route("POST", "/orders/{id:int}/cancel", self._cancel),
            route("GET", "/orders/{id:int}/return", self._return_form),
            route("POST", "/orders/{id:int}/return", self._return),
            route("GET", "/addresses", self._addresses),
            route("GET", "/addresses/new", self._new_address),
            route("POST", "/addresses", self._add_address),
            route("GET", "/addresses/{id:int}", self._address),
            route("POST", "/addresses/{id:int}", self._change_address),
            route("POST", "/addresses/{id:int}/default", self._prefer_address),
            route("POST", "/addresses/{id:int}/remove", self._remove_address),
        )

    def _overview(self, request: Request) -> Response:
        return self._view.page("account.html", request, orders=self._view.shop.newest_orders()[:2])

    # Orders

    def _orders(self, request: Request) -> Response:
        return self._view.page("orders.html", request, orders=self._view.shop.newest_orders())

    def _order(self, request: Request, number: int, problem: str = "") -> Response:
        return self._view.page(
            "order.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
            order=self._view.shop.orders[number],
            problem=problem,
            returning=self._view.shop.on_their_way_back(),
        )

    def _cancel(self, request: Request, number: int) -> Response:
        try:
            self._view.shop.cancel(number)
        except Refused as refusal:
            return self._order(request, number, str(refusal))
        return see_other(f"/orders/{number}?done=cancelled")

    def _return_form(self, request: Request, number: int) -> Response:
        order = self._view.shop.orders[number]
        if not order.returnable:
            return see_other(f"/orders/{number}")
        return self._returning(request, order, {}, {})

    def _returning(
        self,
        request: Request,
        order: Order,
        fields: Mapping[str, str],
        problems: Mapping[str, str],
    ) -> Response:
        return self._view.page(
            "return.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            order=order,
            fields=fields,
            problems=problems,
            returning=self._view.shop.on_their_way_back(),
        )

    def _return(self, request: Request, number: int) -> Response:
        order, fields = self._view.shop.orders[number], form(request)
        item, reason, refund = (fields.get(key, "") for key in ("item", "reason", "refund"))
        problems = {}
        if not item.isdecimal() or not 1 <= int(item) <= len(order.lines):
            problems["item"] = "Choose what you want to send back."
        if reason not in self._view.brand.reasons:
            problems["reason"] = "Tell us why."
        if refund not in self._view.brand.refunds:
            problems["refund"] = "Choose how you want your money back."
        if problems:
            return self._returning(request, order, fields, problems)
        try:
            self._view.shop.send_back(number, int(item) - 1, reason, refund)
        except Refused as refusal:
            return self._order(request, number, str(refusal))
        return see_other(f"/orders/{number}?done=returned")

    # Addresses

    def _addresses(self, request: Request) -> Response:
        return self._view.page("addresses.html", request)

    def _new_address(self, request: Request) -> Response:
        return self._address_form(request, 0, {}, {})

    def _address(self, request: Request, number: int) -> Response:
        return self._address_form(request, number, asdict(self._view.shop.addresses[number]), {})

    def _address_form(
        self,
        request: Request,
        number: int,
        fields: Mapping[str, str],
        problems: Mapping[str, str],
    ) -> Response:
        return self._view.page(
            "address.html",
            request,
            HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
            number=number,
            fields=fields,
            problems=problems,
        )

    def _add_address(self, request: Request) -> Response:
        return self._save_address(request, max(self._view.shop.addresses, default=0) + 1, 0)

    def _change_address(self, request: Request, number: int) -> Response:
        if number not in self._view.shop.addresses:
            raise KeyError(number)
        return self._save_address(request, number, number)

    def _save_address(self, request: Request, number: int, shown: int) -> Response:
        fields = form(request)
        try:
            address = read_address(fields, self._view.brand)
        except Problems as problems:
            return self._address_form(request, shown, fields, problems.sentences)
        self._view.shop.addresses[number] = address
        return see_other("/addresses?done=address")

    def _prefer_address(self, request: Request, number: int) -> Response:
        if number not in self._view.shop.addresses:
            raise KeyError(number)
        self._view.shop.default_address = number
        return see_other("/addresses?done=address")

    def _remove_address(self, request: Request, number: int) -> Response:
        if number != self._view.shop.default_address:
            del self._view.shop.addresses[number]
        return see_other("/addresses?done=address_removed")
