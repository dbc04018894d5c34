"""Draws the pages of one shop: what every template needs, and the words after a change."""

import datetime as dt
import functools
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from warex_testbed.sites.shop.brand import Brand
from warex_testbed.sites.shop.catalogue import SORTS, counted
from warex_testbed.sites.shop.model import OWNER, TODAY, Shop
from warex_testbed.web import Request, Response, page

_HERE = Path(__file__).parent
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def long_date(day: dt.date) -> str:
    """`10 June 2026`."""
    return f"{day.day} {day:%B} {day.year}"


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        today=TODAY, owner=OWNER, sorts=SORTS, counted=counted, long_date=long_date
    )
    return environment


@functools.cache
def static() -> Mapping[str, Response]:
    """Return the scripts, styles and icons of all brands by path."""
    return {
        f"/static/{file.name}": Response(
            file.read_bytes(), content_type=f"{_TYPES[file.suffix]}; charset=utf-8", cacheable=True
        )
        for file in (_HERE / "static").iterdir()
    }


class Desk:
    """One visitor's shop and its brand; the parts of the site share it."""

    def __init__(self, brand: Brand, shop: Shop) -> None:
        self.brand = brand
        self.shop = shop

    def page(
        self, template: str, request: Request, status: int = HTTPStatus.OK, **values: Any
    ) -> Response:
        """Answer with a template; what `done` in the address says is told once more by a reload."""
        html = (
            _environment()
            .get_template(template)
            .render(
                brand=self.brand,
                words=self.brand.words,
                money=self.brand.money,
                shop=self.shop,
                cart_label=self.cart_label(),
                done=self.brand.done.get(request.query.get("done", "")),
                searched=request.query.get("q", ""),
                path=request.path,
                **values,
            )
        )
        return page(html, status)

    def cart_label(self) -> str:
        """`Cart, 2 items`: the name of the link to the cart."""
        pieces = self.shop.pieces
        return f"{self.brand.words['cart']}, {pieces} item{'' if pieces == 1 else 's'}"
