"""What the sites share: routes to handlers, what these read and answer, templates, static files."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

LARGEST_BODY = 256 * 1024
"""Bytes; no form of any site comes near it."""

_NOT_CACHED = {"Cache-Control": "no-store"}
_CACHED = {"Cache-Control": "public, max-age=3600"}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml; charset=utf-8"}

type Handler = Callable[..., Response]


class Site(Protocol):
    """One instance of one web site: its application, and its state for the verifier."""

    @property
    def app(self) -> Starlette:
        """What answers requests."""
        ...

    def state(self) -> dict[str, Any]:
        """Return everything a check may ask about, as JSON values."""
        ...


def route(method: str, path: str, handler: Handler) -> Route:
    """Return the way to a handler, which is given the request and the numbers of the path.

    The body is there when the handler begins, and nothing else happens until it returns: requests
    are answered one at a time.
    """

    async def endpoint(request: Request) -> Response:
        request.state.body = await request.body()
        return handler(request, *request.path_params.values())

    return Route(path, endpoint, methods=[method])


def application(
    routes: Iterable[Route], missing: Callable[[Request], Response], *folders: Path
) -> Starlette:
    """Return a site of routes and of the folders' static files, the first one's before the others'.

    What is not there, which a handler says by KeyError, is answered by `missing`, for scripts by
    JSON. Other errors are raised again once they are answered.
    """

    async def not_found(request: Request, error: Exception) -> Response:
        if request.url.path.startswith("/api/"):
            return as_json({"error": "That is not there any more."}, HTTPStatus.NOT_FOUND)
        return missing(request)

    async def file(request: Request) -> Response:
        return static(*folders)[request.path_params["name"]]

    app = Starlette(
        routes=[Route("/static/{name}", file), *routes],
        exception_handlers={
            HTTPStatus.NOT_FOUND: not_found,
            KeyError: not_found,
            HTTPStatus.METHOD_NOT_ALLOWED: _not_allowed,
            HTTPStatus.INTERNAL_SERVER_ERROR: _broken,
        },
        max_body_size=LARGEST_BODY,
    )
    app.router.redirect_slashes = False
    return app


async def _not_allowed(request: Request, error: Exception) -> Response:
    return page("<h1>Method not allowed</h1>", HTTPStatus.METHOD_NOT_ALLOWED)


async def _broken(request: Request, error: Exception) -> Response:
    return page(
        "<!doctype html><title>Server error</title><h1>Something broke on this site</h1>",
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )


@cache
def static(*folders: Path) -> Mapping[str, Response]:
    """Return the folders' static files by name, as answers that the browser may keep."""
    return {
        file.name: Response(file.read_bytes(), headers=_CACHED, media_type=_TYPES[file.suffix])
        for folder in reversed(folders)
        if (folder / "static").is_dir()
        for file in (folder / "static").iterdir()
    }


def templates(*folders: Path, **values: Any) -> Environment:
    """Return the templates of the folders, the first one's before the others'.

    `values` are known in all of them.
    """
    environment = Environment(
        loader=FileSystemLoader([folder / "templates" for folder in folders]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(values)
    return environment


# What handlers read


def form(request: Request) -> dict[str, str]:
    """Return the fields of an `application/x-www-form-urlencoded` body, of a name the last."""
    text = request.state.body.decode("utf-8", "replace")
    return dict(parse_qsl(text, keep_blank_values=True))


def json_fields(request: Request) -> dict[str, Any]:
    """Return the body's JSON object; anything else is an empty one."""
    try:
        value = json.loads(request.state.body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


# What handlers answer; a browser may keep none of it


def page(html: str, status: int = HTTPStatus.OK) -> Response:
    """Answer with an HTML document."""
    return HTMLResponse(html, status, _NOT_CACHED)


def as_json(value: object, status: int = HTTPStatus.OK) -> Response:
    """Answer with a JSON document."""
    return JSONResponse(value, status, _NOT_CACHED)


def see_other(location: str) -> Response:
    """Send the browser on after a form was posted, so that a reload does not post it again."""
    return RedirectResponse(location, HTTPStatus.SEE_OTHER, _NOT_CACHED)
