"""How the sites of a trial look, read from the answers that have passed, if a rule's fault asks.

What is kept has a limit for each answer and in all; a page that cannot be read shows nothing.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warex.engine.http.encoding import StreamDecoder
from warex.engine.http.heads import ResponseHead
from warex.exchange import UNKNOWN_LOOK, Request, SiteLook, registrable_domain
from warex.lane.response_faults.stream_rewriter import BeginningReader
from warex.rewriting.base import HTML_TYPES
from warex.scenarios import Rule

_MAX_ANSWER: Final = 512 * 1024
"""Bytes of a page or a style sheet that are read; a page's top is what is seen of it."""
_MAX_SHEETS: Final = 4 * 1024 * 1024
"""Bytes of style sheets that are kept in a trial."""
_MAX_SITES: Final = 32


class _SitePage(Struct):
    """The latest page of a host."""

    address: str
    body: bytes
    look: SiteLook | None = None
    """The look; None until it is asked for."""


class SiteLooks(Struct):
    """The latest page of each host, and the style sheets of a trial."""

    wanted: bool
    _pages: dict[str, _SitePage] = field(default_factory=dict)
    """By ``host:port``."""
    _sheets: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_rules(cls, rules: Iterable[Rule]) -> "SiteLooks":
        """Return the looks of a trial with these rules."""
        return cls(any(rule.fault.shows_site for rule in rules))

    def of(self, request: Request) -> SiteLook:
        """Return the look of the site that a request goes to.

        A host that has shown no page looks as another of its domain, but without its logo.
        """
        if not self.wanted:
            return UNKNOWN_LOOK
        host = request.parts.netloc.lower()
        page = self._pages.get(host)
        if page is not None:
            return self._look(page)
        domain = registrable_domain(request.parts.hostname or "")
        for other, known in self._pages.items():
            if domain and registrable_domain(other.partition(":")[0]) == domain:
                look = self._look(known)
                return look if look.logo.startswith("data:") else replace(look, logo="")
        return UNKNOWN_LOOK

    def reader(self, request: Request, head: ResponseHead) -> BeginningReader | None:
        """Return a reader of a site's streamed page or style sheet; None for other responses."""
        if not self.wanted or head.status != 200 or request.method != "GET":
            return None
        kind = head.headers.get("content-type").partition(";")[0].strip().lower()
        is_page = kind in HTML_TYPES and request.is_top_level
        if not (is_page or kind == "text/css"):
            return None
        coding = head.headers.get("content-encoding")
        if not StreamDecoder.reads(coding):
            return None
        return BeginningReader(coding, _MAX_ANSWER, partial(self.note, request, kind))

    def note(self, request: Request, kind: str, body: bytes) -> None:
        """Keep a page or a style sheet."""
        if kind == "text/css":
            self._note_sheet(request.url, body.decode("utf-8", "replace"))
            return
        host = request.parts.netloc.lower()
        if host in self._pages or len(self._pages) < _MAX_SITES:
            self._pages[host] = _SitePage(request.url, body)

    def _note_sheet(self, address: str, text: str) -> None:
        others = sum(len(it) for at, it in self._sheets.items() if at != address)
        if others + len(text) > _MAX_SHEETS:
            return
        self._sheets[address] = text
        for page in self._pages.values():
            page.look = None

    def _look(self, page: _SitePage) -> SiteLook:
        if page.look is None:
            # Imported here because the parser takes 0.1 s to load.
            from warex.rewriting.site_look.reader import read_look

            page.look = read_look(page.body, page.address, self._sheets)
        return page.look
