"""Finds the fields for passwords in a page's HTML, whatever they are called."""

import html
import re
from collections.abc import Iterator

from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import words_of

_PASSWORD = (
    rb"(?i)type\s*=\s*[\"']?password|autocomplete\s*=\s*[\"']?"
    rb"(?:[\w-]+ )*(?:current-password|new-password|one-time-code|cc-csc)"
)
_TAG = re.compile(rb"<(?:input|textarea)\b[^<>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rb"(?i)[\s\"']([\w-]{2,20})\s*=\s*(?:\"([^\"]{1,80})\"|'([^']{1,80})'|([^\s\"'>]{1,80}))"
)
_NAMING = frozenset({b"name", b"id", b"placeholder", b"aria-label", b"data-testid"})
_MOST = 32
_TOO_USUAL = words_of("q s user username email login search text name value input")
"""Names of other fields, which a page could give to one for a password."""


def password_fields(page: bytes) -> frozenset[str]:
    """Return the names, ids and labels of a page's fields for passwords and codes.

    One that another field of the page has, too, is left out.
    """
    if compiled(_PASSWORD).search(page) is None:
        return frozenset()
    secret: set[str] = set()
    others: set[str] = set()
    for tag in _TAG.finditer(page):
        is_secret = compiled(_PASSWORD).search(tag.group()) is not None
        (secret if is_secret else others).update(_names(tag.group()))
        if len(secret) >= _MOST:
            break
    return frozenset(secret - others - _TOO_USUAL)


def _names(tag: bytes) -> Iterator[str]:
    for attribute in _ATTRIBUTE.finditer(tag):
        if attribute[1].lower() in _NAMING:
            value = next(filter(None, attribute.groups()[1:]))
            yield html.unescape(value.decode("utf-8", "replace")).strip()
