"""Every site of the testbed by host; a folder for each kind of site, a brand for each host."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from warex_testbed.web import Site

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

    def visit(self) -> ASGIApp:
        """Return what answers one connection: by the instances of now, whatever is reset later."""
        return self._now

    @property
    def requests(self) -> int:
        """How many requests have come since the last reset, whatever the host."""
        return self._now.requests

    def state(self, host: str | None = None) -> dict[str, Any]:
        """Return the state of one host's site, or of all, by host."""
        return {each: self._now.site(each).state() for each in ([host] if host else HOSTS)}


def host_of(scope: Scope) -> str:
    """Return the host that a request names, without its port."""
    return Headers(scope=scope).get("host", "").rsplit(":", 1)[0].lower()


class _Instances:
    """What lives from one reset to the next: an application.

    A site is made when somebody asks for it: a trial needs one of them and pays for one.
    """

    def __init__(self) -> None:
        self.requests = 0
        self._sites: dict[str, Site] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the site of the request's host."""
        self.requests += 1
        await self.site(host_of(scope)).app(scope, receive, send)

    def site(self, host: str) -> Site:
        """Return the site of a host; of an unknown one, the first."""
        host = host if host in HOSTS else next(iter(HOSTS))
        if host not in self._sites:
            kind = import_module(f"{__name__}.{HOSTS[host]}")
            made: Site = kind.make(host)
            self._sites[host] = made
        return self._sites[host]
