"""The verifier's door: sites' state and a fresh start, on a port that no browser is sent to."""

from collections.abc import Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from warex_testbed.sites import HOSTS, Sites, host_of
from warex_testbed.web import application, as_json, route


class Admin:
    """Answers `GET /health`, `GET /state` (by host) and `POST /reset`, all in JSON.

    `?host=` asks for the state of one site. Health tells how many requests have come to the sites
    since the last reset. `drop` ends the connections to the sites, which no reset outlives.

    Pages are refused, whose browser may be led here: by their `Origin`, or by a `Host` that is not
    this machine's (DNS rebinding).
    """

    def __init__(self, sites: Sites, drop: Callable[[], None]) -> None:
        self._sites = sites
        self._drop = drop
        routes = (
            route("GET", "/health", self._health),
            route("GET", "/state", self._state),
            route("POST", "/reset", self._reset),
        )
        self._app = application(routes, self._missing)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of the verifier."""
        request = Request(scope)
        if "origin" in request.headers or host_of(scope) not in ("", "127.0.0.1", "localhost"):
            sentence = "this port is the verifier's: no page may ask, and Host must be 127.0.0.1"
            refused = as_json({"error": sentence}, HTTPStatus.FORBIDDEN)
            await refused(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _missing(self, request: Request) -> Response:
        return as_json({"error": f"no such path: {request.url.path}"}, HTTPStatus.NOT_FOUND)

    def _health(self, request: Request) -> Response:
        return as_json({"ok": True, "requests": self._sites.requests})

    def _state(self, request: Request) -> Response:
        host = request.query_params.get("host")
        if host is not None and host not in HOSTS:
            known = ", ".join(HOSTS)
            sentence = f"no site has the host {host!r}; there are: {known}"
            return as_json({"error": sentence}, HTTPStatus.NOT_FOUND)
        return as_json(self._sites.state(host))

    def _reset(self, request: Request) -> Response:
        self._sites.reset()
        self._drop()
        return as_json({"ok": True})
