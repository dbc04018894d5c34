"""Every family of error pages, and the choice for a host."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from warex.faults.pages import browsers, edges, frameworks, platforms, sites, web_servers
from warex.faults.pages.incident import Incident, Page

type PageAudience = Literal["server", "browser"]
"""The apparent author: a server or the browser."""


@dataclass(frozen=True, slots=True)
class PageStyle:
    """A family of error pages."""

    render: Callable[[Incident], Page]
    """A pure function; its name is the family's."""

    audience: PageAudience = "server"
    gateway: bool = False
    """Whether it is a gateway, which may answer 502 or 504 (RFC 9110 §15.6)."""

    server_errors_only: bool = False
    """Whether it says that the application failed, whatever the status."""

    by_name_only: bool = False

    @property
    def name(self) -> str:
        """Its name in scenarios."""
        return self.render.__name__


PAGE_STYLES: tuple[PageStyle, ...] = (
    PageStyle(web_servers.nginx, gateway=True),
    PageStyle(web_servers.apache, gateway=True),
    PageStyle(web_servers.iis, gateway=True),
    PageStyle(web_servers.haproxy, gateway=True),
    PageStyle(web_servers.tomcat),
    PageStyle(edges.edge_network, gateway=True),
    PageStyle(edges.edge_distribution, gateway=True),
    PageStyle(edges.edge_cache, gateway=True),
    PageStyle(edges.fastly, gateway=True),
    PageStyle(edges.edge_shield, gateway=True),
    PageStyle(edges.load_balancer, gateway=True),
    PageStyle(edges.service_mesh, gateway=True),
    PageStyle(platforms.vercel, gateway=True),
    PageStyle(platforms.heroku, gateway=True, server_errors_only=True),
    PageStyle(frameworks.nextjs),
    PageStyle(frameworks.django),
    PageStyle(frameworks.flask),
    PageStyle(frameworks.rails),
    PageStyle(frameworks.spring),
    PageStyle(frameworks.laravel),
    PageStyle(frameworks.express),
    PageStyle(frameworks.plain),
    PageStyle(sites.shop, gateway=True),
    PageStyle(sites.portal, gateway=True),
    # Only for programs that ask for JSON: a browser would show it as text.
    PageStyle(sites.api, gateway=True, by_name_only=True),
    PageStyle(browsers.chromium, "browser"),
    PageStyle(browsers.firefox, "browser"),
    PageStyle(browsers.safari, "browser"),
    PageStyle(browsers.webview, "browser"),
    PageStyle(browsers.internet_gateway, "browser"),
)
"""The catalogue. A new family is a function, a line here and a line in docs/reference/faults.md."""


def style_names(voice: PageAudience) -> tuple[str, ...]:
    """Return the names that a scenario may give as ``page``."""
    return tuple(family.name for family in PAGE_STYLES if family.audience == voice)


def render(voice: PageAudience, incident: Incident, name: str | None = None) -> Page:
    """Return a page of the family ``name``, by default of the host's, which the seed chooses."""
    only_gateways = voice == "server" and incident.status in (502, 504)
    able = [it for it in PAGE_STYLES if it.audience == voice and not it.by_name_only]
    able = [it for it in able if it.gateway or not only_gateways]
    able = [it for it in able if incident.status >= 500 or not it.server_errors_only]
    if name is None:
        family = incident.rng.choice(able, "family", incident.host)
    else:
        family = next(it for it in PAGE_STYLES if it.name == name)
    return replace(family.render(incident), family=family.name)
