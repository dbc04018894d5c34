"""The data and the helpers that error pages are made of."""

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Self

from warex.effects import Reply
from warex.exchange import UNKNOWN_LOOK, Exchange, Request, SiteLook
from warex.faults.pages.reasons import reason
from warex.faults.pages.wording import choose_language, options
from warex.seeds import KeyedRng

HEX = "0123456789abcdef"
"""Digits of a hexadecimal reference."""

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
"""Letters of a reference that looks encoded or is meant to be read aloud."""


@dataclass(frozen=True, slots=True)
class Page:
    """An error page: what a server sends after the status."""

    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers, names in lower case."""
    family: str = ""
    """The name of its family; empty for none."""

    def reply(self, status: int, headers: Mapping[str, str] | None = None) -> Reply:
        """Return the answer with this page, which no cache may keep (RFC 9111 §5.2.2.5)."""
        own = {"content-type": self.content_type, "cache-control": "no-store"}
        answer = {**self.headers, **own, **(headers or {})}
        return Reply(status, answer, self.body, page=self.family)


@dataclass(frozen=True, slots=True)
class Incident:
    """One request that is answered with an error page."""

    status: int
    host: str
    path: str
    rng: KeyedRng
    look: SiteLook = UNKNOWN_LOOK
    """How the site looks."""
    asked_language: str = ""
    """The request's ``Accept-Language``."""

    @classmethod
    def of(
        cls, request: Request, status: int, rng: KeyedRng, look: SiteLook = UNKNOWN_LOOK
    ) -> Self:
        """Return the incident of a request, without credentials and query."""
        host = request.parts.netloc.rpartition("@")[2]
        path = request.parts.path or "/"
        asked = request.headers.get("accept-language", "")
        return cls(status, _printable(host), _printable(path), rng, look, asked)

    @classmethod
    def at(cls, exchange: Exchange, status: int, rng: KeyedRng) -> Self:
        """Return the incident of an exchange with a site, whose look it knows."""
        return cls.of(exchange.request, status, rng, exchange.look)

    @property
    def language(self) -> str:
        """The language of the page: the site's own, or else one that the client prefers."""
        return choose_language(self.look.language or "", *self.asked_language.split(","))

    @property
    def site(self) -> str:
        """The site's name; its host where it has shown none."""
        return self.look.name or self.host

    def say(self, key: str) -> str:
        """Return one way to say something, the same one for all pages of a host."""
        sentence = self.rng.choice(options(self.language, key), "page", self.host, key)
        return sentence.replace("{site}", self.site)

    @property
    def reason(self) -> str:
        """The reason phrase of the status."""
        return reason(self.status)

    def pick(self, *options: str) -> str:
        """Return one of the options, the same one for all pages of a host."""
        return self.rng.choice(options, "page", self.host, *options)

    def reference(self, label: str, length: int, letters: str = HEX) -> str:
        """Return a reference to this request, as for a server's logs."""
        about = ("page", self.host, self.path, self.status, label)
        return "".join(self.rng.choice(letters, *about, place) for place in range(length))

    def by_side[T](self, client: T, server: T) -> T:
        """Return what fits a client error (4xx) or what fits a server error."""
        return client if self.status < 500 else server

    def html(self, template: str, headers: Mapping[str, str] | None = None, **more: str) -> Page:
        """Fill an HTML template (``$status $reason $host $path`` and ``more``), all escaped."""
        values = {"status": str(self.status), "reason": self.reason, **more}
        values |= {"host": self.host, "path": self.path}
        safe = {name: html.escape(value) for name, value in values.items()}
        body = Template(template).substitute(safe)
        return Page("text/html; charset=utf-8", body.encode(), headers or {})


def _printable(text: str) -> str:
    # Bytes of a URL that are not UTF-8 are lone surrogates.
    return text.encode("utf-8", "replace").decode()
