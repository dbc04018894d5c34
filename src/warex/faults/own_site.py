"""Sites of faults, answered by the proxy; no request to them leaves the machine."""

from typing import Literal, Protocol

from msgspec import Struct

from warex.effects import Reply
from warex.exchange import UNKNOWN_LOOK, Request, SiteLook


class VisitAction(Struct, frozen=True):
    """One action of a client at such a site."""

    what: str
    """``visited``, ``clicked``, ``typed``…"""
    detail: str = ""
    """The path, the link's text or the fields; never the value of a secret field."""
    by: Literal["", "user", "script"] = ""
    """Who did it; empty if it is not known, as of a program."""
    ticket: str | None = None
    """What the request carries to prove it; None where it needs no proof."""


class Visit(Struct, frozen=True):
    """The answer to a request, and the client's actions that it shows."""

    reply: Reply
    actions: tuple[VisitAction, ...] = ()


class HostedSite(Protocol):
    """A stateless site: the same request always gets the same answer."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Its hosts, in lower case; see ``unregistrable_host``."""
        ...

    def visit(self, request: Request, body: str, look: SiteLook = UNKNOWN_LOOK) -> Visit:
        """Answer a request; ``body`` is its body as text, ``look`` of the site before it."""
        ...


def unregistrable_host(prefix: str, name: str) -> str:
    """Return a plausible host that cannot be registered; ``prefix`` has two letters.

    A label with hyphens as its third and fourth characters is reserved (RFC 5890, section 2.3.1);
    registries accept only ``xn--``.
    """
    return f"{prefix}--{name}.com"


def is_unregistrable(host: str) -> bool:
    """Whether ``unregistrable_host`` may have made the host."""
    return host[2:4] == "--" and host.endswith(".com") and host.count(".") == 1
