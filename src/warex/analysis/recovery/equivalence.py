"""Which request is the right one after a fault.

For a failed connection try, it is any request that the host answers; for a document, the same page;
for a script, an image or another part of a page, the page itself, or the part while that page is
open; for a write or a fetch by a page, the same operation. Its answer does not matter: a second
fault that hits it is a second injection.
"""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlsplit

from warex.traces.events import RequestSeen

SUBRESOURCES = frozenset(("script", "stylesheet", "image", "font", "media"))
_SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
_REPEATABLE = frozenset(("PUT", "DELETE"))
"""Idempotent methods that write (RFC 9110, section 9.2.2)."""
_CACHE_BUSTERS = frozenset(
    (
        *("_", "_t", "_ts", "ts", "timestamp", "cb", "bust", "cachebust", "cachebuster"),
        *("cache_bust", "nocache", "no_cache", "rand", "random", "rnd", "dc", "_dc"),
    )
)
"""Names of parameters that bypass a cache, with any value."""
_LIKELY_CACHE_BUSTERS = _CACHE_BUSTERS.union(
    ("t", "time", "cache", "r", "v", "refresh", "reload", "retry", "nonce")
)
"""Names that may do so, in a URL that is otherwise requested without them."""
_WRITING = frozenset(
    (
        *("accept", "add", "append", "apply", "approve", "archive", "assign", "buy", "cancel"),
        *("change", "checkout", "clear", "close", "complete", "confirm", "create", "decline"),
        *("delete", "edit", "enroll", "insert", "invite", "join", "leave", "login", "logout"),
        *("make", "move", "pay", "place", "publish", "put", "register", "reject", "remove"),
        *("rename", "reply", "reserve", "reset", "save", "schedule", "send", "set", "start"),
        *("stop", "submit", "subscribe", "toggle", "update", "upload", "upsert", "vote"),
        "write",
    )
)
"""First or last words of names of operations that change something."""
_WRITING_ALONE = frozenset(
    {"book", "like", "mark", "order", "post", "rate", "report", "share", "store"}
)
"""The same where the name has no other word: they are nouns, too."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NO_MEANING = re.compile(r"[\d.]*|[0-9a-f-]{6,40}|true|1|yes|now|again", re.IGNORECASE)
_REDACTED = re.compile(r"\[redacted(?::\d+:[0-9a-f]{8})?\]")
"""A value that looks random; traces have a hash in its place."""
_INDEX = re.compile(r"/(?:index\.\w+)?$")


def place(url: str) -> tuple[str, int | None, str]:
    """Return the host, port and path of a URL, as ``same_page`` compares them."""
    return _parts(url)[0]


def is_write(request: RequestSeen) -> bool:
    """Whether a request may change something on the site."""
    return request.method not in _SAFE and not request.operation.startswith("query ")


def seems_to_read(request: RequestSeen) -> bool:
    """Whether a request changes nothing on the site, by its method or the name of its operation."""
    if not is_write(request):
        return True
    words = [word.lower() for word in _WORD.findall(request.operation)]
    if not words or " " in request.operation or _WRITING & {words[0], words[-1]}:
        return False
    return len(words) > 1 or words[0] not in _WRITING_ALONE


def is_idempotent(request: RequestSeen) -> bool:
    """Whether a write has the same effect when sent twice."""
    return request.method in _REPEATABLE


def same_page(one: str, other: str) -> bool:
    """Whether two URLs lead to the same page.

    The fragment, ``www.``, the scheme, a trailing slash, ``index.html`` and parameters that bypass
    a cache are ignored.
    """
    if one == other:
        return True
    (place, parameters), (other_place, other_parameters) = _parts(one), _parts(other)
    if place != other_place or not place[0]:
        return False
    only = (parameters - other_parameters) | (other_parameters - parameters)
    names = [name for name, _ in only]
    return all(
        name.lower() in (_LIKELY_CACHE_BUSTERS if names.count(name) == 1 else _CACHE_BUSTERS)
        and (
            _NO_MEANING.fullmatch(value)
            or (name.lower() in _CACHE_BUSTERS and _REDACTED.fullmatch(value))
        )
        for name, value in only
    )


def same_operation(one: RequestSeen, other: RequestSeen) -> bool:
    """Whether two requests of a page are for the same operation."""
    if one.method != other.method:
        return False
    if one.body and one.body == other.body and _parts(one.url)[0] == _parts(other.url)[0]:
        return True
    if not same_page(one.url, other.url):
        return False
    if one.operation or other.operation:
        return one.operation == other.operation
    if "graphql" in urlsplit(one.url).path.lower():
        # Older traces have no operations: only the same body is the same operation.
        return one.body == other.body
    return True


@lru_cache(maxsize=4096)
def _parts(url: str) -> tuple[tuple[str, int | None, str], frozenset[tuple[str, str]]]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ("", None, url), frozenset()
    host = (parts.hostname or "").removeprefix("www.")
    query = frozenset(parse_qsl(parts.query, keep_blank_values=True))
    return (host, None if port in (80, 443) else port, _INDEX.sub("", parts.path)), query
