"""Every family of error pages there is, and which one a host gets."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from warex.faults.pages import browsers, edges, frameworks, sites, web_servers
from warex.faults.pages.incident import Incident, Page

type Voice = Literal["server", "browser"]
"""Who seems to speak: something on the server's side, or the browser itself."""


@dataclass(frozen=True, slots=True)
class Family:
    """Error pages of one make."""

    render: Callable[[Incident], Page]
    """A pure function; its name is the family's."""

    voice: Voice = "server"
    gateway: bool = False
    """Whether it stands before another server, and so may say 502 or 504 (RFC 9110 §15.6)."""

    by_name_only: bool = False

    @property
    def name(self) -> str:
        """What a scenario calls it."""
        return self.render.__name__


FAMILIES: tuple[Family, ...] = (
    Family(web_servers.nginx, gateway=True),
    Family(web_servers.apache, gateway=True),
    Family(web_servers.iis, gateway=True),
    Family(web_servers.tomcat),
    Family(edges.edge_network, gateway=True),
    Family(edges.edge_distribution, gateway=True),
    Family(edges.edge_cache, gateway=True),
    Family(edges.edge_shield, gateway=True),
    Family(edges.load_balancer, gateway=True),
    Family(edges.service_mesh, gateway=True),
    Family(frameworks.nextjs),
    Family(frameworks.django),
    Family(frameworks.flask),
    Family(frameworks.rails),
    Family(frameworks.spring),
    Family(frameworks.laravel),
    Family(frameworks.express),
    Family(frameworks.plain),
    Family(sites.shop, gateway=True),
    Family(sites.portal, gateway=True),
    # A person's browser would show bare JSON as the page; programs that ask for JSON get this one.
    Family(sites.api, gateway=True, by_name_only=True),
    Family(browsers.chromium, "browser"),
    Family(browsers.firefox, "browser"),
    Family(browsers.safari, "browser"),
    Family(browsers.webview, "browser"),
    Family(browsers.internet_gateway, "browser"),
)
"""The catalogue. A new family is a function, a line here and a line in docs/reference/faults.md."""


def family_names(voice: Voice) -> tuple[str, ...]:
    """Return the names a scenario may give as ``page``."""
    return tuple(family.name for family in FAMILIES if family.voice == voice)


def render(name: str, incident: Incident) -> Page:
    """Return the page of the family of this name, which must be one of ``family_names``."""
    return _page(next(family for family in FAMILIES if family.name == name), incident)


def render_any(voice: Voice, incident: Incident) -> Page:
    """Return a page of the family this host has by luck: the same for all its pages."""
    only_gateways = voice == "server" and incident.status in (502, 504)
    able = [
        family
        for family in FAMILIES
        if family.voice == voice
        and not family.by_name_only
        and (family.gateway or not only_gateways)
    ]
    return _page(incident.luck.choice(able, "family", incident.host), incident)


def _page(family: Family, incident: Incident) -> Page:
    return replace(family.render(incident), family=family.name)
