"""Serves runs to a browser on this machine.

What a run holds is hostile: it is sent as JSON or as an image, never as a page. Every path begins
with a secret token, and requests for other names of the server are refused (DNS rebinding).
"""

import asyncio
import secrets
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from warex.errors import InputError, WarexError
from warex.view.documents import Documents
from warex.view.json_text import as_json
from warex.view.media import media_type

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ASSETS: Final = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
CONTENT_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_JSON: Final = "application/json"
_LONGEST_SEARCH: Final = 200
"""Characters."""


def asset(name: str) -> bytes:
    """Return a file of the viewer."""
    return files("warex.view").joinpath("assets", name).read_bytes()


def application(documents: Documents, token: str, port: int) -> "ASGIApp":
    """Return the viewer as an ASGI application; ``port`` is the one that it is asked at."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.responses import Response
    from starlette.routing import Route

    async def page(request: "Request") -> "Response":
        _check(request)
        name = request.path_params.get("name") or "index.html"
        if name not in ASSETS:
            raise HTTPException(404)
        return Response(asset(name), media_type=ASSETS[name])

    async def data(request: "Request") -> "Response":
        _check(request)
        body, kind, status = await asyncio.to_thread(_answer, documents, request)
        return Response(body, status, media_type=kind)

    def _check(request: "Request") -> None:
        offered: str = request.path_params["token"]
        if not secrets.compare_digest(offered.encode(), token.encode()):
            raise HTTPException(404)

    routes = [
        Route("/{token}/", page),
        Route("/{token}/{name}", page),
        Route("/{token}/data/{name:path}", data),
    ]
    return _guarded(Starlette(routes=routes), port)


def _guarded(application: "ASGIApp", port: int) -> "ASGIApp":
    """Return an application that answers only its own pages, with the headers of all answers."""
    from starlette.datastructures import MutableHeaders
    from starlette.requests import Request
    from starlette.responses import Response

    async def guarded(scope: "Scope", receive: "Receive", send: "Send") -> None:
        async def send_guarded(message: "Message") -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        is_own = scope["type"] == "http" and _is_own(Request(scope), port)
        await (application if is_own else Response(status_code=403))(scope, receive, send_guarded)

    return guarded


def _is_own(request: "Request", port: int) -> bool:
    """Whether a request is for this server by its own name, and not from a page of another one."""
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}", f"[::1]:{port}"}
    origin = request.headers.get("origin")
    navigates = request.headers.get("sec-fetch-mode") == "navigate"
    foreign = request.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return (
        request.headers.get("host") in hosts
        and (origin is None or origin in {f"http://{host}" for host in hosts})
        and (navigates or not foreign)
    )


def _answer(documents: Documents, request: "Request") -> tuple[bytes, str, int]:
    """Return the body, the media type and the status of the answer to a request for a document."""
    try:
        document = _document(documents, request)
    except (WarexError, ValueError, IndexError, OSError) as error:
        return as_json({"error": str(error)}), _JSON, 404
    if isinstance(document, bytes):
        return document, media_type(document), 200
    return as_json(document), _JSON, 200


def _document(documents: Documents, request: "Request") -> object:
    """Return the document that a request names. Raises InputError for an unknown one."""
    name = request.path_params["name"]
    match name.removesuffix(".json").split("/"):
        case ["runs"]:
            return documents.runs()
        case ["run", run]:
            return documents.run(int(run))
        case ["figures", run]:
            return documents.figures(int(run))
        case ["trial", run, trial]:
            return documents.trial(int(run), trial)
        case ["prompt", run, trial, seq]:
            return documents.prompt(int(run), trial, int(seq))
        case ["body", run, trial, seq]:
            return documents.body(int(run), trial, int(seq))
        case ["log", run, trial]:
            return documents.log(int(run), trial)
        case ["judgement", run, trial]:
            return documents.judgement(int(run), trial)
        case ["raw", run, trial, chunk]:
            return documents.raw(int(run), trial, int(chunk))
        case ["blob", run, trial, kind, digest]:
            return documents.blob(int(run), trial, f"{kind}/{digest}")
        case ["pair", run, trial, other_run, other]:
            return documents.pair((int(run), trial), (int(other_run), other))
        case ["search", run]:
            text = request.query_params.get("q", "")[:_LONGEST_SEARCH]
            if not text:
                raise InputError("A search needs a text: search/RUN?q=TEXT.")
            return documents.search(int(run), text)
    raise InputError(f"The viewer has no document {name!r}.")
