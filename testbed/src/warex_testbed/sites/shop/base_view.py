"""Draws the pages of one shop: what every template needs, and the words after a change."""

import datetime as dt
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from warex_testbed.sites.shop.brand import Brand
from warex_testbed.sites.shop.catalogue import SORTS, counted
from warex_testbed.sites.shop.model import OWNER, TODAY, Shop
from warex_testbed.web import page, templates

HERE = Path(__file__).parent


def long_date(day: dt.date) -> str:
    """`10 June 2026`."""
    return f"{day.day} {day:%B} {day.year}"


_TEMPLATES = templates(
    HERE, today=TODAY, owner=OWNER, sorts=SORTS, counted=counted, long_date=long_date
)


class BaseView:
    """One visitor's shop and its brand; the parts of the site share it."""

    def __init__(self, brand: Brand, shop: Shop) -> None:
        self.brand = brand
        self.shop = shop

    def page(
        self, template: str, request: Request, status: int = HTTPStatus.OK, **values: Any
    ) -> Response:
        """Answer with a template; a reload shows the message of `done` in the address once more."""
        html = _TEMPLATES.get_template(template).render(
            brand=self.brand,
            words=self.brand.words,
            money=self.brand.money,
            shop=self.shop,
            cart_label=self.cart_label(),
            done=self.brand.done.get(request.query_params.get("done", "")),
            searched=request.query_params.get("q", ""),
            path=request.url.path,
            **values,
        )
        return page(html, status)

    def cart_label(self) -> str:
        """`Cart, 2 items`: the name of the link to the cart."""
        pieces = self.shop.pieces
        return f"{self.brand.words['cart']}, {pieces} item{'' if pieces == 1 else 's'}"
