"""The base class of walls: pages that replace a site's until the client passes them."""

from collections.abc import Mapping
from typing import ClassVar, Final, override

from warex.effects import WallExit
from warex.exchange import Exchange, Request, Resource
from warex.faults.base import Fault, FaultState, next_number
from warex.seeds import KeyedRng

THEMES: Final = (
    ("#ffffff", "#222222", "#1a73e8", "system-ui, sans-serif"),
    ("#fdf6ec", "#3a2a18", "#c4552d", "Georgia, serif"),
    ("#1f2430", "#f4f5f7", "#3d8f62", "Verdana, sans-serif"),
    ("#f3f6ff", "#1b2559", "#5b3df5", "Arial, sans-serif"),
)
"""Background, text and accent colours, and font."""


def theme_of(host: str, rng: KeyedRng) -> Mapping[str, str]:
    """Return the theme of all pages of a host, as template values."""
    names = ("ground", "ink", "accent", "font")
    return dict(zip(names, rng.choice(THEMES, "look", host), strict=True))


def same_site_location(request: Request) -> str:
    """Return the request's path and query as a ``Location`` on the same site."""
    path, query = request.parts.path or "/", request.parts.query
    # A path that begins with two slashes would be parsed as a host.
    path = f"/.{path}" if path.startswith("//") else path
    return f"{path}?{query}" if query else path


class Wall(Fault, frozen=True):
    """A page in place of each page of a host, until the client submits its form.

    The form goes to a path of the same site that the proxy answers with a cookie and a redirect to
    the requested page. Requests with the cookie pass the wall, unless the rule begins another.
    """

    category: ClassVar = "wall"
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    def still_applies(self, exchange: Exchange, memory: FaultState) -> bool:
        """Whether the wall of this host applies to this client."""
        here = memory.get("host") == exchange.request.parts.netloc
        return here and not _shows(exchange.request, str(memory.get("cookie")))

    @property
    @override
    def never_ends(self) -> str:
        """A client that passes the wall is redirected to the page, and is hit there."""
        return "who passes the wall meets another one, and no page of the site ever comes"

    def wall_exit(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[WallExit, FaultState]:
        """Return how to pass the page of this exchange, and the new memory."""
        pages, known = next_number(memory)
        cookie = str(memory.get("cookie"))
        if not self.still_applies(exchange, memory):
            walls, known = next_number(known, "walls")
            cookie = f"s{rng.hex_word('name')[:6]}={rng.hex_word('cookie', walls)}"
        gate = WallExit(
            f"/{rng.hex_word('path', pages)}", same_site_location(exchange.request), cookie
        )
        host = exchange.request.parts.netloc
        return gate, {**known, "cookie": cookie, "host": host}


def _shows(request: Request, cookie: str) -> bool:
    return cookie in map(str.strip, request.headers.get("cookie", "").split(";"))
