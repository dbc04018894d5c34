"""URL patterns: globs, exact URLs, regular expressions, and the benchmark's sites."""

import re
from collections.abc import Callable
from typing import Final

from warex.scenarios.globs import glob_to_regex, join_with_wildcards
from warex.scenarios.scenario import SITES, Match
from warex.text.regex import Regex
from warex.text.short_cache import cached_if_short

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
_ON_THE_WIRE: Final = {"ws": "http", "wss": "https"}
"""A WebSocket begins as an HTTP request (RFC 6455 §1.3)."""

_URL = re.compile(r"([^:/?#]*)://([^/?#]*)([^#]*)")
_ANY: Final = "."
_IN_SCHEME: Final = "[^:/?]"
_IN_HOST: Final = "[^/?]"


@cached_if_short(maxsize=1024)
def normalise(url: str) -> str:
    """Return the URL, or pattern, as rules compare it (RFC 3986 §6.2.2, §6.2.3).

    Scheme and host in lower case, no default port, no fragment, a path of at least `/`; `ws` and
    `wss` become `http` and `https`. What has no scheme only loses its fragment.
    """
    parts = _URL.match(url)
    if parts is None:
        return url.partition("#")[0]
    scheme, authority, rest = parts.groups()
    scheme = scheme.lower()
    scheme = _ON_THE_WIRE.get(scheme, scheme)
    authority = authority.lower().removesuffix(_DEFAULT_PORTS.get(scheme, ":")).removesuffix(":")
    if not rest.startswith("/") and not authority.endswith("*"):
        rest = f"/{rest}"
    return f"{scheme}://{authority}{rest}"


@cached_if_short(maxsize=1024)
def host_of(url: str) -> str:
    """Return the host of a normalised URL or pattern; no port, an IPv6 address without brackets."""
    authority = url.partition("://")[2].partition("/")[0]
    return re.sub(r":[\d*]*$", "", authority).strip("[]")


@cached_if_short(maxsize=1024)
def glob_regex(pattern: str) -> str:
    """Translate a glob over a whole URL; only `*` is special, since `?` and `[` stand in URLs.

    `*` is any text, but in a scheme, or a host that is partly literal, it does not extend beyond:
    `https://*.shop.example/*` does not match `https://other.example/?next=www.shop.example/`.
    """
    pattern = normalise(pattern)
    scheme, mark, rest = pattern.partition("://")
    if not mark:
        return glob_to_regex(pattern)
    host, slash, path = rest.partition("/")
    if slash and host.strip("*"):
        rest_regex = f"{glob_to_regex(host, _IN_HOST)}/{glob_to_regex(path)}"
    else:
        rest_regex = glob_to_regex(rest)
    return f"{glob_to_regex(scheme, _IN_SCHEME)}://{rest_regex}"


def site_regex(site: str, rest: str = "*") -> str:
    """Translate a site, perhaps with a path, followed by ``rest``, a glob.

    A slash or a question mark follows the site.
    """
    normal = normalise(f"{site.removesuffix('*').rstrip('/')}/").removesuffix("/")
    scheme, mark, tail = normal.partition("://")
    head, path = "", normal
    if mark:
        head = f"{glob_to_regex(scheme, _IN_SCHEME)}://"
        host, slash, path = tail.partition("/")
        if host.strip("*"):
            head, path = f"{head}{glob_to_regex(host, _IN_HOST)}", f"{slash}{path}"
        else:
            path = tail
    *before, last = map(re.escape, path.split("*"))
    first, *after = map(re.escape, rest.split("*"))
    # One expression, so that not every end of the site is tried.
    return head + join_with_wildcards([*before, f"{last}(?=[/?]){first}", *after], _ANY)


def matcher(match: Match, sites: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a predicate over normalised URLs.

    `{sites}` stands for any of the sites, or for every origin if no sites are known.
    """
    if match.url_exact is not None:
        wanted = normalise(match.url_exact)
        return lambda url: url == wanted
    if match.url_regex is not None:
        return Regex(match.url_regex).matches
    if match.url is None:
        return lambda url: True
    if match.url.startswith(SITES):
        rest = match.url.removeprefix(SITES).partition("#")[0] or "*"
        anywhere = f"[^:/?]*://[^/?]*{glob_to_regex(rest)}"
        pattern = "|".join(site_regex(site, rest) for site in sites) or anywhere
        return _as_predicate(re.compile(pattern, re.DOTALL).fullmatch)
    return _as_predicate(re.compile(glob_regex(match.url), re.DOTALL).fullmatch)


def any_of(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a predicate: whether a normalised URL matches any of the globs."""
    if not patterns:
        return lambda url: False
    by_scheme: dict[str, list[str]] = {}
    for pattern in patterns:
        scheme, mark, rest = glob_regex(pattern).partition("://")
        by_scheme.setdefault(f"{scheme}{mark}", []).append(rest)
    # So the scheme is read once, and of the others only what begins as the URL's host.
    regex = "|".join(f"{scheme}(?:{'|'.join(rests)})" for scheme, rests in by_scheme.items())
    return cached_if_short(maxsize=1024)(_as_predicate(re.compile(regex, re.DOTALL).fullmatch))


def on_sites(sites: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a predicate: whether a normalised URL is on a task site (any, if none are known)."""
    return matcher(Match(url=SITES), sites)


def names_host(match: Match, host: str) -> bool:
    """Whether the pattern names the host literally."""
    host = host.lower().strip("[]")
    if not host:
        return False
    if match.url_regex is not None:
        # `\.` is a literal dot; `\b` and `\d` are not letters.
        literal = re.sub(r"\\(.)", _suggestion, match.url_regex.lower())
        return re.search(rf"(?<![\w-]){re.escape(host)}(?![\w-])", literal) is not None
    return host_of(normalise(match.url_exact or match.url or "")).removesuffix("*") == host


def _suggestion(escape: re.Match[str]) -> str:
    return " " if escape[1].isalnum() else escape[1]


def may_concern_host(match: Match, host: str, sites: tuple[str, ...]) -> bool:
    """Whether some URL on this host may match."""
    host = host.lower().strip("[]")
    if match.url_exact is not None:
        return host_of(normalise(match.url_exact)) == host
    if match.url is None or match.url_regex is not None:
        return True
    if match.url.startswith(SITES):
        globs = tuple(f"{site.removesuffix('*').rstrip('/')}/*" for site in sites) or ("*",)
    else:
        globs = (match.url,)
    return any(_glob_may_concern(normalise(glob), host) for glob in globs)


def _glob_may_concern(glob: str, host: str) -> bool:
    _, mark, rest = glob.partition("://")
    if not mark:
        return True
    if "/" not in rest:
        # The last star may include the rest of the host.
        return host.startswith(host_of(glob.partition("*")[0]))
    return re.fullmatch(glob_to_regex(host_of(glob), _IN_HOST), host) is not None


def _as_predicate(search: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda url: search(url) is not None
