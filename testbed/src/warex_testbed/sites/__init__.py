"""Every site of the testbed by host; a folder for each kind of site, a brand for each host."""

import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from warex_testbed.web import Request, Response, Site

KINDS: Mapping[str, tuple[str, ...]] = {
    "calendar": ("calendar.warex.test", "agenda.warex.test", "planner.warex.test"),
    "mail": ("mail.warex.test", "post.warex.test", "inbox.warex.test"),
    "shop": ("shop.warex.test", "market.warex.test", "outfitters.warex.test"),
    "forum": ("forum.warex.test", "board.warex.test", "talk.warex.test"),
}
"""The kinds of site, each with its hosts; the package of a kind makes them by ``make(host)``."""

HOSTS: Mapping[str, str] = {host: kind for kind, hosts in KINDS.items() for host in hosts}
"""The kind of each host; the first also answers for unknown hosts."""


class Sites:
    """One instance of each site, and fresh ones after a reset."""

    def __init__(self) -> None:
        self._now = _Instances()

    def reset(self) -> None:
        """Forget every instance; who came before the reset stays with the forgotten ones."""
        self._now = _Instances()

    def visit(self) -> Callable[[Request], Response]:
        """Return what answers one connection: by the instances of now, whatever is reset later."""
        return self._now.handle

    def handle(self, request: Request) -> Response:
        """Answer by the site of the request's host."""
        return self._now.handle(request)

    @property
    def requests(self) -> int:
        """How many requests have come since the last reset, whatever the host."""
        return self._now.requests

    def state(self, host: str | None = None) -> dict[str, Any]:
        """Return the state of one host's site, or of all, by host."""
        return self._now.state([host] if host else HOSTS)


class _Instances:
    """What lives from one reset to the next; one request at a time, so that a site needs no locks.

    A site is made when somebody asks for it: a trial needs one of them and pays for one.
    """

    def __init__(self) -> None:
        self.requests = 0
        self._lock = threading.Lock()
        self._sites: dict[str, Site] = {}

    def handle(self, request: Request) -> Response:
        with self._lock:
            self.requests += 1
            return self._site(request.host).handle(request)

    def state(self, hosts: Iterable[str]) -> dict[str, Any]:
        with self._lock:
            return {host: self._site(host).state() for host in hosts}

    def _site(self, host: str) -> Site:
        host = host if host in HOSTS else next(iter(HOSTS))
        if host not in self._sites:
            kind = import_module(f"{__name__}.{HOSTS[host]}")
            made: Site = kind.make(host)
            self._sites[host] = made
        return self._sites[host]
