"""Every family of error pages, and the choice for a host."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from warex.faults.pages import sites
from warex.faults.pages.incident import Incident, Page
from warex.faults.pages.rendering import render_template

type PageAudience = Literal["server", "browser"]
"""The apparent author: a server or the browser."""


@dataclass(frozen=True, slots=True)
class PageStyle:
    """A family of error pages."""

    name: str
    """Its name in scenarios."""
    audience: PageAudience = "server"
    gateway: bool = False
    """Whether it is a gateway, which may answer 502 or 504 (RFC 9110 §15.6)."""

    server_errors_only: bool = False
    """Whether it says that the application failed, whatever the status."""

    by_name_only: bool = False
    text: bool = False
    """Whether its template is plain text."""

    function: Callable[[Incident], Page] | None = None
    """What makes its pages in place of a template; pure."""

    def render(self, incident: Incident) -> Page:
        """Return this family's page of an incident."""
        if self.function is not None:
            return self.function(incident)
        return render_template(f"{self.name}.{'txt' if self.text else 'html'}", incident)


PAGE_STYLES: tuple[PageStyle, ...] = (
    PageStyle("nginx", gateway=True),
    PageStyle("apache", gateway=True),
    PageStyle("iis", gateway=True),
    PageStyle("haproxy", gateway=True),
    PageStyle("tomcat"),
    PageStyle("edge_network", gateway=True),
    PageStyle("edge_distribution", gateway=True),
    PageStyle("edge_cache", gateway=True),
    PageStyle("fastly", gateway=True),
    PageStyle("edge_shield", gateway=True),
    PageStyle("load_balancer", gateway=True),
    PageStyle("service_mesh", gateway=True, text=True),
    PageStyle("vercel", gateway=True),
    PageStyle("heroku", gateway=True, server_errors_only=True),
    PageStyle("nextjs"),
    PageStyle("django"),
    PageStyle("flask"),
    PageStyle("rails"),
    PageStyle("spring"),
    PageStyle("laravel"),
    PageStyle("express"),
    PageStyle("plain", text=True),
    PageStyle("shop", gateway=True, function=sites.shop),
    PageStyle("portal", gateway=True, function=sites.portal),
    # Only for programs that ask for JSON: a browser would show it as text.
    PageStyle("api", gateway=True, by_name_only=True, function=sites.api),
    PageStyle("chromium", "browser"),
    PageStyle("firefox", "browser"),
    PageStyle("safari", "browser"),
    PageStyle("webview", "browser"),
    PageStyle("internet_gateway", "browser"),
)
"""The catalogue. A new family is a template, a line here and a line in docs/reference/faults.md."""


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
