"""Finds the fields for passwords in a page's HTML, whatever they are called."""

import html
import re
from collections.abc import Iterator
from typing import Final

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import words_of

_PASSWORD = (
    rb"(?i)type\s*=\s*[\"']?password|autocomplete\s*=\s*[\"']?"
    rb"(?:[\w-]+ )*(?:current-password|new-password|one-time-code|cc-csc)"
)
_NEEDED: Final = (b"password", b"one-time-code", b"cc-csc")
"""One of them stands in each text that matches, in any case of letters."""
_TAG = lazy_re(rb"<(?:input|textarea)\b[^<>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = lazy_re(
    rb"(?i)[\s\"']([\w-]{2,20})\s*=\s*(?:\"([^\"]{1,80})\"|'([^']{1,80})'|([^\s\"'>]{1,80}))"
)
_NAMING = frozenset({b"name", b"id", b"placeholder", b"aria-label", b"data-testid"})
_MOST = 32
_MOST_PLACES = 64
"""Places of a name that are looked at; a name with more is too usual."""
_LONGEST_TAG = 2000
_TOO_USUAL = words_of("q s user username email login search text name value input")
"""Names of other fields, which a page could give to one for a password."""


def password_fields(page: bytes) -> frozenset[str]:
    """Return the names, ids and labels of a page's fields for passwords and codes.

    One that another field of the page has, too, is left out.
    """
    lower = page.lower()
    if not any(map(lower.__contains__, _NEEDED)):
        return frozenset()
    secret: dict[str, bytes] = {}
    done = 0
    for candidate in compiled(_PASSWORD).finditer(page):
        tag = _tag_around(page, candidate.start()) if candidate.start() >= done else None
        if tag is not None:
            done = tag.end()
            secret.update(_names(tag.group()))
        if len(secret) >= _MOST:
            break
    names = secret.keys() - _TOO_USUAL
    return frozenset(name for name in names if not _is_of_another(name, secret[name], page))


def _tag_around(page: bytes, place: int) -> re.Match[bytes] | None:
    begin = page.rfind(b"<", max(0, place - _LONGEST_TAG), place)
    return _TAG.match(page, begin) if begin >= 0 else None


def _is_of_another(name: str, written: bytes, page: bytes) -> bool:
    """Whether a field that is not for passwords has the name, too."""
    place = -1
    for _ in range(_MOST_PLACES):
        place = page.find(written, place + 1)
        if place < 0:
            return False
        tag = _tag_around(page, place)
        if (
            tag is not None
            and compiled(_PASSWORD).search(tag.group()) is None
            and name in dict(_names(tag.group()))
        ):
            return True
    return True


def _names(tag: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names that a tag gives to its field, each also as the page writes it."""
    for attribute in _ATTRIBUTE.finditer(tag):
        if attribute[1].lower() in _NAMING:
            value = next(filter(None, attribute.groups()[1:]))
            yield html.unescape(value.decode("utf-8", "replace")).strip(), value
