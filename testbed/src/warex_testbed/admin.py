"""The verifier's door: sites' state and a fresh start, on a port that no browser is sent to."""

from collections.abc import Callable
from http import HTTPStatus

from warex_testbed.sites import HOSTS, Sites
from warex_testbed.web import Request, Response, Route, as_json, dispatch


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
        self._routes = (
            Route("GET", "/health", self._health),
            Route("GET", "/state", self._state),
            Route("POST", "/reset", self._reset),
        )

    def __call__(self, request: Request) -> Response:
        """Answer one request of the verifier."""
        if request.origin or request.host not in ("", "127.0.0.1", "localhost"):
            sentence = "this port is the verifier's: no page may ask, and Host must be 127.0.0.1"
            return as_json({"error": sentence}, HTTPStatus.FORBIDDEN)
        answer = dispatch(self._routes, request)
        if answer is None:
            return as_json({"error": f"no such path: {request.path}"}, HTTPStatus.NOT_FOUND)
        return answer

    def _health(self, request: Request) -> Response:
        return as_json({"ok": True, "requests": self._sites.requests})

    def _state(self, request: Request) -> Response:
        host = request.query.get("host")
        if host is not None and host not in HOSTS:
            known = ", ".join(HOSTS)
            sentence = f"no site has the host {host!r}; there are: {known}"
            return as_json({"error": sentence}, HTTPStatus.NOT_FOUND)
        return as_json(self._sites.state(host))

    def _reset(self, request: Request) -> Response:
        self._sites.reset()
        self._drop()
        return as_json({"ok": True})
