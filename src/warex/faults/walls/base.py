"""The base class of walls: pages that replace a site's until the client passes them."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NamedTuple, override

from msgspec.structs import replace
from pydantic import Field, JsonValue

from warex.effects import WallExit
from warex.exchange import Exchange, Request, Resource, registrable_domain
from warex.faults.base import EffectsAndState, Fault, FaultState, next_number
from warex.faults.pages import Incident, site_page
from warex.seeds import KeyedRng


def same_site_location(request: Request) -> str:
    """Return the request's path and query as a ``Location`` on the same site."""
    path, query = request.parts.path or "/", request.parts.query
    # A path that begins with two slashes would be parsed as a host.
    path = f"/.{path}" if path.startswith("//") else path
    return f"{path}?{query}" if query else path


class WallText(NamedTuple):
    """What a wall says: templates of CSS and HTML, and the words in them."""

    title: str
    style: str
    content: str
    """The form goes to ``$path_of_form``."""
    words: Mapping[str, str]


class Wall(Fault, frozen=True):
    """A page in place of each page of a site, until the client submits its form.

    The form goes to a path of the same site that the proxy answers with a cookie and a redirect to
    the requested page. A site whose wall was passed has none any more, unless it comes ``always``.
    """

    category: ClassVar = "wall"
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)
    shows_site: ClassVar = True

    always: bool = Field(
        default=False,
        strict=True,
        description="Whether the rule may begin another wall after one was passed.",
    )

    @property
    def page_status(self) -> int:
        """The status of the page."""
        return 200

    @abstractmethod
    def text(self, incident: Incident) -> WallText:
        """Return what the page says."""

    def way_out(self, wall_exit: WallExit, incident: Incident) -> WallExit:
        """Return the exit with what else is needed to pass it."""
        return wall_exit

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether there is a wall before this site, which the client has not passed."""
        site = site_of(exchange.request)
        return site in _walls(state) and not _is_passed(exchange.request, state)

    @override
    def spares(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the client has passed the wall of this site."""
        return not self.always and _is_passed(exchange.request, state)

    @override
    def noted(self, state: FaultState, exchange: Exchange, what: str) -> FaultState:
        """Remember the site whose wall was passed."""
        if what != "cleared":
            return state
        site = site_of(exchange.request)
        return {**state, "passed": [*(it for it in _passed(state) if it != site), site]}

    @property
    @override
    def never_ends(self) -> str:
        """With ``always``, a client that passes the wall is redirected to a page, and hit there."""
        if not self.always:
            return ""
        return "who passes the wall meets another one, and no page of the site ever comes"

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the page of this site."""
        request, site = exchange.request, site_of(exchange.request)
        pages, known = next_number(state)
        walls = _walls(state)
        cookie = str(walls.get(site, ""))
        if not self.still_applies(exchange, state):
            number, known = next_number(known, "numbers")
            cookie = f"s{rng.hex_word('name')[:6]}={rng.hex_word('cookie', number)}"
        path = f"/{rng.hex_word('path', pages)}"
        incident = Incident.at(exchange, self.page_status, rng)
        texts = self.text(incident)
        page = site_page(incident, *texts[:3], path_of_form=path, **texts.words)
        wall_exit = self.way_out(WallExit(path, same_site_location(request), cookie), incident)
        reply = replace(page.reply(self.page_status), wall_exit=wall_exit)
        passed: list[JsonValue] = [it for it in _passed(state) if it != site]
        return (reply,), {**known, "walls": {**walls, site: cookie}, "passed": passed}


def site_of(request: Request) -> str:
    """Return the site of a request: a registrable domain and a port, on which sites differ."""
    host, _, port = request.parts.netloc.rpartition("@")[2].partition(":")
    domain = registrable_domain(request.parts.hostname or host)
    return f"{domain}:{port}" if port else domain


def _walls(state: FaultState) -> Mapping[str, JsonValue]:
    """Return the cookie of each site's latest wall."""
    walls = state.get("walls")
    return walls if isinstance(walls, dict) else {}


def _passed(state: FaultState) -> list[JsonValue]:
    """Return the sites whose latest wall was passed."""
    passed = state.get("passed")
    return passed if isinstance(passed, list) else []


def _is_passed(request: Request, state: FaultState) -> bool:
    site = site_of(request)
    cookie = _walls(state).get(site)
    shown = [it.strip() for it in request.headers.get("cookie", "").split(";")]
    return site in _passed(state) or (isinstance(cookie, str) and cookie in shown)
