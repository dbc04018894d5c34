"""What a site sees of HTTP: a request in, a response out, and a table of routes between them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True)
class Request:
    """One request: `path` is decoded and without the query; `host` without the port.

    `origin` is that of the page which asks, where a browser says so.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    host: str = ""
    body: bytes = b""
    origin: str = ""

    @classmethod
    def parse(
        cls, method: str, target: str, host: str = "", body: bytes = b"", origin: str = ""
    ) -> "Request":
        """Read the request line's target; a repeated key keeps its last value."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        return cls(method, parts.path, query, host.rsplit(":", 1)[0].lower(), body, origin)

    def form(self) -> dict[str, str]:
        """Return the fields of an `application/x-www-form-urlencoded` body."""
        text = self.body.decode("utf-8", "replace")
        return dict(parse_qsl(text, keep_blank_values=True))

    def json(self) -> dict[str, Any]:
        """Return the body's JSON object; anything else is an empty one."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Response:
    """One answer. Only `cacheable` ones (scripts, styles, images) may be kept by the browser."""

    body: bytes
    status: int = HTTPStatus.OK
    content_type: str = "text/html; charset=utf-8"
    location: str | None = None
    cacheable: bool = False


def page(html: str, status: int = HTTPStatus.OK) -> Response:
    """Answer with an HTML document."""
    return Response(html.encode(), status)


def as_json(value: object, status: int = HTTPStatus.OK) -> Response:
    """Answer with a JSON document."""
    return Response(json.dumps(value).encode(), status, "application/json")


def see_other(location: str) -> Response:
    """Send the browser on after a form was posted, so that a reload does not post it again."""
    return Response(b"", HTTPStatus.SEE_OTHER, location=location)


class Site(Protocol):
    """One instance of one web site: it answers requests and shows its state to the verifier."""

    def handle(self, request: Request) -> Response:
        """Answer a request; an exception becomes a 500."""
        ...

    def state(self) -> dict[str, Any]:
        """Return everything a check may ask about, as JSON values."""
        ...


type Handler = Callable[..., Response]


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path, where `{id}` stands for a whole number given to the handler."""

    method: str
    path: str
    handler: Handler

    def match(self, path: str) -> tuple[int, ...] | None:
        """Return the numbers in `path`, or None when the path is another one."""
        found = re.fullmatch(self.path.replace("{id}", r"(\d{1,9})"), path)
        return None if found is None else tuple(int(number) for number in found.groups())


def dispatch(routes: Sequence[Route], request: Request) -> Response | None:
    """Answer by the first route that fits; None when the path is unknown, 405 for the method."""
    method = "GET" if request.method == "HEAD" else request.method
    known = False
    for route in routes:
        numbers = route.match(request.path)
        if numbers is None:
            continue
        known = True
        if route.method == method:
            return route.handler(request, *numbers)
    return page("<h1>Method not allowed</h1>", HTTPStatus.METHOD_NOT_ALLOWED) if known else None
