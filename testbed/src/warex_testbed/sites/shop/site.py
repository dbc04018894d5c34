"""One shop: its static files, its pages, its forms and what its scripts call."""

from http import HTTPStatus
from typing import Any

from warex_testbed.sites.shop.account import Account
from warex_testbed.sites.shop.aisles import Aisles
from warex_testbed.sites.shop.brand import Brand
from warex_testbed.sites.shop.desk import Desk, static
from warex_testbed.sites.shop.model import Shop
from warex_testbed.sites.shop.till import Till
from warex_testbed.web import Request, Response, as_json, dispatch


class ShopSite:
    """One visitor's shop; requests are answered one at a time."""

    def __init__(self, brand: Brand, shop: Shop) -> None:
        self._shop = shop
        self._desk = Desk(brand, shop)
        parts = Aisles(self._desk), Till(self._desk), Account(self._desk)
        self._routes = tuple(route for part in parts for route in part.routes)

    def state(self) -> dict[str, Any]:
        """Return the cart, orders, returns, addresses, wish list, reviews and questions."""
        return self._shop.as_json()

    def handle(self, request: Request) -> Response:
        """Answer a request; what is not there is a page, or JSON, that says so."""
        if request.path in static():
            return static()[request.path]
        try:
            answer = dispatch(self._routes, request)
        except KeyError:  # a product, order or address that is not there
            answer = None
        if answer is not None:
            return answer
        if request.path.startswith("/api/"):
            return as_json({"error": "That is not there any more."}, HTTPStatus.NOT_FOUND)
        return self._desk.page("missing.html", request, HTTPStatus.NOT_FOUND)
