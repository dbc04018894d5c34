"""URL patterns: globs, exact URLs, regular expressions, and the benchmark's sites."""

import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urlsplit

from warex.scenarios.scenario import SITES, Match

_DEFAULT_PORTS = {"http": ":80", "https": ":443", "ws": ":80", "wss": ":443"}


@lru_cache(maxsize=4096)
def normalise(url: str) -> str:
    """Return the URL as rules compare it: host in lower case, no default port, no fragment."""
    url = url.partition("#")[0]
    scheme, mark, rest = url.partition("://")
    if not mark:
        return url
    authority, slash, path = rest.partition("/")
    scheme, authority = scheme.lower(), authority.lower()
    authority = authority.removesuffix(_DEFAULT_PORTS.get(scheme, "\0"))
    return f"{scheme}://{authority}/{path}" if slash else f"{scheme}://{authority}"


def _with_path(url: str) -> str:
    """Give a bare origin the path that every request for it has."""
    parts = urlsplit(url)
    return f"{url}/" if parts.netloc and not parts.path and not parts.query else url


def glob_regex(pattern: str) -> str:
    """Translate a glob over a whole URL; only `*` is special, since `?` and `[` stand in URLs."""
    pattern = normalise(pattern)
    if not pattern.endswith("*"):
        pattern = _with_path(pattern)
    return ".*".join(map(re.escape, pattern.split("*")))


def site_regex(site: str) -> str:
    """Translate a site, an origin such as `https://shop.example`, to what matches its origin."""
    return glob_regex(site.removesuffix("*").rstrip("/") + "*").removesuffix(".*")


def matcher(match: Match, sites: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a predicate over normalised URLs.

    `{sites}` stands for any of the sites; without sites (a command nobody knows the sites of) it
    stands for every origin.
    """
    if match.url_exact is not None:
        wanted = _with_path(normalise(match.url_exact))
        return lambda url: url == wanted
    if match.url_regex is not None:
        return _found(re.compile(match.url_regex).search)
    if match.url is None:
        return lambda url: True
    if match.url.startswith(SITES):
        origins = "|".join(map(site_regex, sites)) or "[a-z]+://[^/]+"
        rest = match.url.removeprefix(SITES)
        tail = ".*".join(map(re.escape, rest.split("*"))) if rest else "(?:[/?].*)?"
        return _found(re.compile(f"(?:{origins}){tail}", re.DOTALL).fullmatch)
    return _found(re.compile(glob_regex(match.url), re.DOTALL).fullmatch)


def any_of(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return whether a normalised URL matches any of the globs."""
    if not patterns:
        return lambda url: False
    return _found(re.compile("|".join(map(glob_regex, patterns)), re.DOTALL).fullmatch)


def on_sites(sites: tuple[str, ...]) -> Callable[[str], bool]:
    """Return whether a normalised URL belongs to a task site; all do where none are known."""
    return matcher(Match(url=SITES), sites)


def names_host(match: Match, host: str) -> bool:
    """Whether the pattern spells the host out, so that the rule is meant for it."""
    host = host.lower()
    if match.url_regex is not None:
        return host in match.url_regex.lower().replace("\\", "")
    pattern = match.url_exact or match.url or ""
    authority = normalise(pattern).partition("://")[2].partition("/")[0]
    return authority.partition(":")[0] == host


def may_concern_host(match: Match, host: str, sites: tuple[str, ...]) -> bool:
    """Whether a URL on this host could match, as far as can be told before there is a URL."""
    if match.url_exact is not None:
        return urlsplit(normalise(match.url_exact)).hostname == host
    if match.url is None or match.url_regex is not None:
        return True
    if match.url.startswith(SITES):
        globs = sites or ("*",)
    else:
        globs = (match.url,)
    return any(_authority_fits(glob, host) for glob in globs)


def _authority_fits(glob: str, host: str) -> bool:
    authority = normalise(glob).partition("://")[2].partition("/")[0] or "*"
    authority = re.sub(r":(\d+|\*)$", "", authority)
    return re.fullmatch(".*".join(map(re.escape, authority.split("*"))), host) is not None


def _found(search: Callable[[str], object]) -> Callable[[str], bool]:
    return lambda url: search(url) is not None
