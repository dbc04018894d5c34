"""A site of a fault's own: the proxy answers it, and no request to it leaves the machine."""

from dataclasses import dataclass
from typing import Protocol

from warex.effects import Reply
from warex.exchange import Request


@dataclass(frozen=True, slots=True)
class VisitAction:
    """One thing that a client did at such a site."""

    what: str
    """``visited``, ``clicked``, ``typed``…"""
    detail: str = ""
    """The path, the link's text, the fields; never what was typed into a field for a secret."""


@dataclass(frozen=True, slots=True)
class Visit:
    """What a request to such a site is answered, and what it shows of the client."""

    reply: Reply
    actions: tuple[VisitAction, ...] = ()


class HostedSite(Protocol):
    """A site without state: the same request always gets the same answer."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """Its hosts, in lower case. Nobody else can have them: see ``reserved``."""
        ...

    def visit(self, request: Request, body: str) -> Visit:
        """Answer a request; ``body`` is what it sends, as text."""
        ...


def unregistrable_host(prefix: str, name: str) -> str:
    """Return a host that looks like any other, and that nobody can register.

    With hyphens as the third and the fourth character a label is reserved (RFC 5890, section
    2.3.1), and registries take it only where ``xn`` stands before. ``prefix`` has two letters.
    """
    return f"{prefix}--{name}.com"
