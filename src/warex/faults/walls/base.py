"""The base class of walls: pages that replace a site's until the client passes them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Final, override

from warex.effects import WallExit
from warex.exchange import Exchange, Request, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState, next_number
from warex.faults.pages import Incident, Page
from warex.seeds import KeyedRng

_THEMES: Final = (
    ("#ffffff", "#222222", "#1a73e8", "system-ui, sans-serif"),
    ("#fdf6ec", "#3a2a18", "#c4552d", "Georgia, serif"),
    ("#1f2430", "#f4f5f7", "#3d8f62", "Verdana, sans-serif"),
    ("#f3f6ff", "#1b2559", "#5b3df5", "Arial, sans-serif"),
)
"""Background, text and accent colours, and font."""


def same_site_location(request: Request) -> str:
    """Return the request's path and query as a ``Location`` on the same site."""
    path, query = request.parts.path or "/", request.parts.query
    # A path that begins with two slashes would be parsed as a host.
    path = f"/.{path}" if path.startswith("//") else path
    return f"{path}?{query}" if query else path


_HEAD: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>$title</title>
<meta name="viewport" content="width=device-width"><style>
body{margin:0;background:$ground;color:$ink;font:17px/1.5 $font}
"""


def themed_page(template: str, incident: Incident, **words: str) -> Page:
    """Return a page in the host's theme; ``template`` begins with further lines of its style."""
    names = ("ground", "ink", "accent", "font")
    theme = zip(names, incident.rng.choice(_THEMES, "look", incident.host), strict=True)
    return incident.html(f"{_HEAD}{template}", None, **dict(theme), **words)


class Wall(Fault, frozen=True):
    """A page in place of each page of a host, until the client submits its form.

    The form goes to a path of the same site that the proxy answers with a cookie and a redirect to
    the requested page. Requests with the cookie pass the wall, unless the rule begins another.
    """

    category: ClassVar = "wall"
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)
    template: ClassVar[str]
    """See ``themed_page``; the form goes to ``$path_of_form``."""

    @property
    def page_status(self) -> int:
        """The status of the page."""
        return 200

    @abstractmethod
    def words(self, incident: Incident) -> Mapping[str, str]:
        """Return the values of the template."""

    def still_applies(self, exchange: Exchange, memory: FaultState) -> bool:
        """Whether the wall of this host applies to this client."""
        here = memory.get("host") == exchange.request.parts.netloc
        cookies = exchange.request.headers.get("cookie", "").split(";")
        return here and str(memory.get("cookie")) not in map(str.strip, cookies)

    @property
    @override
    def never_ends(self) -> str:
        """A client that passes the wall is redirected to the page, and is hit there."""
        return "who passes the wall meets another one, and no page of the site ever comes"

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page of this host."""
        pages, known = next_number(memory)
        cookie = str(memory.get("cookie"))
        if not self.still_applies(exchange, memory):
            walls, known = next_number(known, "walls")
            cookie = f"s{rng.hex_word('name')[:6]}={rng.hex_word('cookie', walls)}"
        path = f"/{rng.hex_word('path', pages)}"
        wall_exit = WallExit(path, same_site_location(exchange.request), cookie)
        incident = Incident.of(exchange.request, self.page_status, rng)
        page = themed_page(self.template, incident, path_of_form=path, **self.words(incident))
        reply = replace(page.reply(self.page_status), wall_exit=wall_exit)
        return (reply,), {**known, "cookie": cookie, "host": exchange.request.parts.netloc}
