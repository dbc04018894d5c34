"""Functions that visit a site without a server, and build requests for handlers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from warex_testbed.web import Site


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; a `location` is not followed."""

    status: int
    body: bytes
    content_type: str
    location: str
    cacheable: bool


def visit(
    app: ASGIApp,
    method: str,
    target: str,
    body: bytes = b"",
    *,
    host: str = "127.0.0.1",
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Return the answer to one request."""
    client = TestClient(app, base_url=f"http://{host}", follow_redirects=False)
    answer = client.request(method, target, content=body, headers=headers)
    return _answer(answer.status_code, answer.content, answer.headers)


def get(site: Site, target: str) -> str:
    """Return the page at a path, whatever its status."""
    return visit(site.app, "GET", target).body.decode()


def post(site: Site, path: str, **fields: str) -> Answer:
    """Send a form."""
    return visit(site.app, "POST", path, urlencode(fields).encode())


def call(site: Site, method: str, path: str, **fields: Any) -> Answer:
    """Send a request with a JSON body, as the sites' scripts do."""
    return visit(site.app, method, path, json.dumps(fields).encode())


def asked(target: str) -> Request:
    """Return the request that a handler receives for a path."""
    parts = urlsplit(target)
    scope = {"path": parts.path, "query_string": parts.query.encode(), "headers": []}
    return Request({"type": "http", "method": "GET", "state": {"body": b""}} | scope)


def answered(response: Response) -> Answer:
    """Return a handler's response as an answer."""
    return _answer(response.status_code, bytes(response.body), response.headers)


def _answer(status: int, body: bytes, headers: Any) -> Answer:
    cacheable = headers["cache-control"] != "no-store"
    location = headers.get("location", "")
    return Answer(status, body, headers.get("content-type", ""), location, cacheable)
