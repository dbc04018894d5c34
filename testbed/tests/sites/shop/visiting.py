"""What the shop's tests do with a site: get a page, post a form, call the API."""

import json
from typing import Any
from urllib.parse import urlencode

from warex_testbed.sites.shop import ShopSite
from warex_testbed.web import Request, Response


def get(site: ShopSite, target: str) -> str:
    return site.handle(Request.parse("GET", target)).body.decode()


def post(site: ShopSite, path: str, **fields: str) -> Response:
    return site.handle(Request("POST", path, body=urlencode(fields).encode()))


def call(site: ShopSite, method: str, path: str, **fields: Any) -> Response:
    return site.handle(Request(method, path, body=json.dumps(fields).encode()))
