"""Finds tokens in the paths of URLs, and URLs without secrets."""

import re
from collections.abc import Iterator

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, looks_random, looks_secret, name_secrecy, opens

SEGMENT = rb"/[\w.~:=%+-]{16,}"
_SEGMENT = lazy_re(SEGMENT)
SHORT_SEGMENT = (
    rb"(?i)/[\w-]*(?:token|reset|passw|confirm|verif|activat|invit|magic|unsub|opt-?out|recover"
    rb"|secret|login|signin|auth|share|state)[\w-]*/[0-9a-f]+"
)
"""A short segment behind a word that announces what opens."""
_SHORT_SEGMENT = lazy_re(rb"/[\w-]{1,80}/([0-9A-Za-z_-]{6,32})(?![\w.-])")
_TELLS = lazy_re(
    r"token|reset|passw|confirm|verif|activat|invit|magic|unsubscrib|secret|webhook|ticket|jwt"
)
_MAY_TELL = lazy_re(
    r"session|auth|hook|service|callback|login|signin|sso|share|private|code|key|bot|feed|accept"
)
_OPENS = frozenset(
    {"access", "auth", "authorize", "callback", "cas", "login", "magic", "oauth", "oauth2", "saml"}
    | {"session", "sessions", "signin", "sso"}
)
"""Behind one of these a long hex number is secret."""
_NAMES_FILES = frozenset(
    {"assets", "blob", "build", "chunks", "commit", "commits", "css", "dist", "images", "img", "js"}
    | {"raw", "static", "tree"}
)
_LONG_HEX = lazy_re(r"(?=[^0-9]*[0-9])(?=[^a-fA-F]*[a-fA-F])(?:[0-9a-f]{32,}|[0-9A-F]{32,})")
_EXTENSION = lazy_re(r"\.[A-Za-z][A-Za-z0-9]{0,8}$")
_BEFORE = lazy_re(rb"(?:/[^/\s\"'<>?#]*){1,4}\Z")
_RUN = lazy_re(rb"[^\s\"'<>()\\]*\Z")
_UUID = lazy_re(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def tokens_in_paths(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of tokens in paths."""
    for match in _SEGMENT.finditer(text):
        begin, end = match.start() + 1, match.end()
        segment = text[begin:end].decode()
        if _EXTENSION.search(segment) or not any(sign.isdigit() for sign in segment):
            continue
        before = _BEFORE.search(text, max(0, begin - 120), begin - 1)
        path = before.group().decode("utf-8", "replace").lower() if before else ""
        how_random = (20, 33) if text.startswith(b"/share", end) else (32, 45)
        if _is_token(segment, path) or (
            looks_random(segment, *how_random) and _is_in_url(text, begin)
        ):
            yield begin, end


def short_tokens(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of short hexadecimal values in paths that announce them."""
    for candidate in compiled(SHORT_SEGMENT).finditer(text):
        match = _SHORT_SEGMENT.match(text, candidate.start())
        if match is not None and opens(match[1].decode()):
            yield match.span(1)


def _is_in_url(text: bytes, place: int) -> bool:
    """Whether a place is in a URL or a path, not in base64."""
    run = _RUN.search(text, max(0, place - 2000), place)
    return run is not None and (run.group().startswith(b"/") or b"://" in run.group())


def _is_token(segment: str, path: str) -> bool:
    name, mark, value = segment.partition("=")
    if mark and name_secrecy(name) is Secrecy.SECRET:
        return looks_secret(value)
    lower = segment.lower()
    if not _is_of_words(segment) and (_TELLS.search(path) or _TELLS.match(lower)):
        return looks_secret(segment)
    if _MAY_TELL.match(lower) and len(segment) > 24 and not _is_of_words(segment):
        return looks_secret(segment)
    if _LONG_HEX.fullmatch(segment):
        last = frozenset(path.split("/")[-2:])
        return not last.isdisjoint(_OPENS) and last.isdisjoint(_NAMES_FILES)
    return _MAY_TELL.search(path) is not None and looks_random(segment)


def _is_of_words(segment: str) -> bool:
    """Whether a segment consists of words and short numbers."""
    if _UUID.fullmatch(segment):
        return False
    parts = re.split(r"[-_.~:%+=]", segment)
    return len(parts) > 1 and all(
        part.isalpha() or (part.isdigit() and len(part) < 12) or not part for part in parts
    )


# A scheme, a host, folders, a file and short values: most URLs of most sites.
_SIMPLE = lazy_re(
    r"(https?://[\w.-]+(?::[0-9]+)?/(?:[\w.~-]+/)*)([\w.~-]*)(?:\?([\w.~=&-]*))?", re.ASCII
)
_LONG = lazy_re(r"[A-Za-z0-9_-]{14}|eyJ")
_LONG_VALUE = 9
"""Characters; a shorter value is only secret by its name."""


def simple_url(url: str) -> str | None:
    """Return the folder of a URL if only that folder could be secret, else None."""
    match = _SIMPLE.fullmatch(url)
    if match is None:
        return None
    folder, file, query = match.groups()
    if _LONG.search(file) or (len(file) >= 16 and announces_token(file)):
        return None
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        if len(value) > _LONG_VALUE or "=" in value or name_secrecy(name) is not Secrecy.NOTHING:
            return None
    return folder


def announces_token(text: str) -> bool:
    """Whether a path has a word that precedes tokens."""
    lower = text.lower()
    return _TELLS.search(lower) is not None or _MAY_TELL.search(lower) is not None
