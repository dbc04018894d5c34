"""Reads the reports of changed pages, which the pages' own scripts cannot make up or repeat."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Final, Literal, cast

from msgspec import Struct, field

from warex.rewriting.base import ValueChange

type ActBy = Literal["", "user", "script"]
"""By whom: a device that the agent uses, or a script; empty for what is not an act."""

SHOWN: Final = "shown"
"""The change is seen."""
NOTHING: Final = "nothing"
"""The page has nothing to change."""
REMOVED: Final = "removed_by_page"
"""The page undoes the change before it is seen."""
CHANGED: Final = "changed"
"""More of the page was changed after the change was seen."""
TEXTS: Final = "texts"
"""The texts of a page, to have some of them changed."""
MENTIONS: Final = "mentions"
"""The text of an inline script or style."""
NAMES: Final = "names"
"""The names of which a page asks whether they are unused."""
DATA: Final = "data"
"""What the fault has changed in data of the page's site."""
QUERIES: Final = frozenset((TEXTS, MENTIONS, NAMES, DATA))
"""Reports that the proxy answers; they are not recorded."""
_ACTS: Final = frozenset(
    (
        "accepted",
        "blocked",
        "clicked",
        "collected",
        "dismissed",
        "followed",
        "kept",
        "removed",
        "submitted",
        "ticked",
        "typed",
        "unticked",
    )
)
_WORDS: Final = _ACTS | QUERIES | {SHOWN, NOTHING, REMOVED, CHANGED}
_BY: Final = ("", "user", "script")
_MOST_REPORTS: Final = 100_000
"""Reports of one page."""
_MAC: Final = 64
"""Hexadecimal digits."""


class PageReport(Struct, frozen=True):
    """One authentic report."""

    what: str
    by: ActBy
    detail: str
    """A code of which the fault knows the text."""
    payload: str


class ReportChannel(Struct):
    """The reports of one page, each of which is valid once."""

    key: str
    _used: set[int] = field(default_factory=set)
    has_forged: bool = False
    """Whether there was something else than a valid report."""

    def read(self, sent: bytes) -> PageReport | None:
        """Return a report; None if it is not authentic, not new or not known."""
        mac, _, text = sent.partition(b"\n")
        wanted = hmac.new(self.key.encode(), text, hashlib.sha256).hexdigest()
        if len(mac) != _MAC or not hmac.compare_digest(mac, wanted.encode()):
            return None
        try:
            number, what, by, detail, payload = text.decode("ascii").split("\n", 4)
            ordinal = int(number)
        except ValueError:
            return None
        known = what in _WORDS and by in _BY
        if not known or ordinal in self._used or not 0 <= ordinal < _MOST_REPORTS:
            return None
        self._used.add(ordinal)
        return PageReport(what, cast("ActBy", by), detail, payload)


def read_query(payload: str) -> str:
    """Return the text of a query."""
    try:
        text = json.loads(payload)
    except (ValueError, RecursionError):
        return ""
    return _well_formed(text) if isinstance(text, str) else ""


def read_changes(payload: str) -> tuple[Sequence[ValueChange], int]:
    """Return the changes that a page has reported, and how many it left out."""
    left_out, _, listed = payload.partition("\n")
    try:
        changes = json.loads(listed) if listed else []
        more = int(left_out or 0)
    except (ValueError, RecursionError):
        return [], 0
    read: list[ValueChange] = []
    for change in changes if isinstance(changes, list) else ():
        match change:
            case [str(where), str(before), str(after)]:
                read.append(ValueChange(*map(_well_formed, (where, before, after))))
            case _:
                pass
    return read, max(0, more)


def _well_formed(text: str) -> str:
    """Return a text without halves of surrogate pairs, which no encoding of Unicode can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
