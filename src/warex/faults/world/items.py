"""The items of a site, such as a shop's, identified by the addresses of their pages and data."""

import posixpath
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import parse_qsl

from warex.exchange import Request
from warex.text.lazy_pattern import lazy_re

_NOUNS: Final = frozenset(
    (
        "product", "p", "dp", "item", "i", "itm", "good", "listing", "ad", "offer", "deal",
        "article", "artikel", "produkt", "produit", "producto", "prodotto", "produto", "event",
        "job", "room", "hotel", "property", "home", "book", "movie", "course", "recipe", "car",
        "trip", "flight", "ticket", "thread", "topic", "post", "question", "note", "issue",
        "message",
    )
)  # fmt: skip
"""What comes before an item's name in a path, in the singular."""
_NO_NAMES: Final = frozenset(
    (
        "new", "all", "search", "add", "create", "edit", "list", "index", "page", "category",
        "categories", "filter", "sort",
    )
)  # fmt: skip
_NUMBERED: Final = lazy_re(r"^(?:.*[a-z].*[-_]\d{4,}|\d{4,}[-_].*[a-z].*|[A-Z0-9]{10}|\d{5,})$")
"""A last part of a path that has the number of an item, as ``red-lamp-12345``."""
_IDS: Final = frozenset(
    (
        "id", "pid", "item", "itemid", "item_id", "product", "productid", "product_id", "sku",
        "slug", "asin", "article",
    )
)  # fmt: skip
_FRONTS: Final = ("www.", "api.", "m.", "shop.", "data.")


class Item(NamedTuple):
    """An item of a site."""

    host: str
    path: str
    """Of its page."""
    name: str
    """Its id or its slug."""
    query: str = ""
    """The query of its page, if that names it."""

    def is_page_of(self, request: Request) -> bool:
        """Whether a request is for its page, or for what stands below it."""
        if request.parts.netloc != self.host:
            return False
        path = request.parts.path.rstrip("/")
        if self.query:
            return path == self.path and (self.name in dict(_ids(request)).values())
        return path == self.path or path.startswith((f"{self.path}/", f"{self.path}."))

    def is_asked_for(self, request: Request) -> bool:
        """Whether a request names it: its page, or data of it on the same site."""
        if self.is_page_of(request):
            return True
        if _plain(request.parts.netloc) != _plain(self.host):
            return False
        if any(value == self.name for _, value in _ids(request)):
            return self._is_telling or any(_is_noun(step) for step in _steps(request))
        steps = _steps(request)
        return any(
            posixpath.splitext(step)[0] == self.name
            and (self._is_telling or (bool(before) and _is_noun(before)))
            for before, step in zip(["", *steps], steps, strict=False)
        )

    @property
    def _is_telling(self) -> bool:
        """Whether nothing else of the site has such a name."""
        return len(self.name) >= 6 and any(not sign.isdigit() for sign in self.name)


def item_of(request: Request) -> Item | None:
    """Return the item whose page or data a request is for; None for none."""
    steps, host = _steps(request), request.parts.netloc
    for number, (before, step) in enumerate(pairwise(steps), 2):
        name = posixpath.splitext(step)[0]
        if _is_noun(before) and name.lower() not in _NO_NAMES:
            return Item(host, f"/{'/'.join(steps[:number])}", name)
    if not steps:
        return None
    if (ids := list(_ids(request))) and any(map(_is_noun, steps)):
        return Item(host, f"/{'/'.join(steps)}", ids[0][1], request.parts.query)
    name = posixpath.splitext(steps[-1])[0]
    if _NUMBERED.match(name):
        return Item(host, f"/{'/'.join(steps)}", name)
    return None


def _steps(request: Request) -> list[str]:
    return [step for step in request.parts.path.split("/") if step]


def _ids(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a query that name an item."""
    for name, value in parse_qsl(request.parts.query[:2000]):
        if name.lower() in _IDS and value:
            yield name, value


def _is_noun(step: str) -> bool:
    word = posixpath.splitext(step)[0].lower()
    return word in _NOUNS or (word.endswith("s") and word[:-1] in _NOUNS)


def _plain(host: str) -> str:
    """Return a host without the name of one of several servers of the same site."""
    front = next((it for it in _FRONTS if host.startswith(it) and host.count(".") > 1), "")
    return host.removeprefix(front)
