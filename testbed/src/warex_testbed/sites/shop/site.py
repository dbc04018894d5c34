"""One shop: its static files, its pages, its forms and what its scripts call."""

from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.shop.account import Account
from warex_testbed.sites.shop.base_view import HERE, BaseView
from warex_testbed.sites.shop.brand import Brand
from warex_testbed.sites.shop.catalogue_views import CatalogueViews
from warex_testbed.sites.shop.checkout_views import CheckoutViews
from warex_testbed.sites.shop.model import Shop
from warex_testbed.web import application


class ShopSite:
    """One visitor's shop; requests are answered one at a time."""

    def __init__(self, brand: Brand, shop: Shop) -> None:
        self._shop = shop
        self._view = BaseView(brand, shop)
        parts = CatalogueViews(self._view), CheckoutViews(self._view), Account(self._view)
        routes = (each for part in parts for each in part.routes)
        self.app = application(routes, self._missing, HERE)

    def state(self) -> dict[str, Any]:
        """Return the cart, orders, returns, addresses, wish list, reviews and questions."""
        return self._shop.as_json()

    def _missing(self, request: Request) -> Response:
        return self._view.page("missing.html", request, HTTPStatus.NOT_FOUND)
