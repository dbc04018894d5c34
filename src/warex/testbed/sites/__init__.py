"""Every site of the testbed by host; a folder for each kind of site, a brand for each host."""

import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from warex.testbed.web import Request, Response, Site

KINDS: Mapping[str, tuple[str, ...]] = {
    "calendar": ("calendar.warex.test", "agenda.warex.test", "planner.warex.test"),
}
"""The kinds of site, each with its hosts; the package of a kind makes them by ``make(host)``."""

HOSTS: Mapping[str, str] = {host: kind for kind, hosts in KINDS.items() for host in hosts}
"""The kind of each host; the first also answers for unknown hosts."""


class Sites:
    """One instance of each site; one request at a time, so that a site needs no locks.

    A site is made when somebody asks for it: a trial needs one of them and pays for one.
    """

    def __init__(self) -> None:
        self._default = next(iter(HOSTS))
        self._lock = threading.Lock()
        self._requests = 0
        self._sites: dict[str, Site] = {}

    def reset(self) -> None:
        """Throw every instance away; whoever asks next meets a fresh one."""
        with self._lock:
            self._requests = 0
            self._sites = {}

    def handle(self, request: Request) -> Response:
        """Answer by the site of the request's host."""
        with self._lock:
            self._requests += 1
            return self._site(request.host).handle(request)

    @property
    def requests(self) -> int:
        """How many requests have come since the last reset, whatever the host."""
        return self._requests

    def state(self, host: str | None = None) -> dict[str, Any]:
        """Return the state of one host's site, or of all, by host."""
        with self._lock:
            return {each: self._site(each).state() for each in ([host] if host else HOSTS)}

    def _site(self, host: str) -> Site:
        host = host if host in HOSTS else self._default
        if host not in self._sites:
            kind = import_module(f"{__name__}.{HOSTS[host]}")
            made: Site = kind.make(host)
            self._sites[host] = made
        return self._sites[host]
