"""Rules that match none of the task sites."""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import SplitResult, urlsplit

from warex.faults import ConnectionPhase
from warex.scenarios.globs import glob_to_regex
from warex.scenarios.matching.url_patterns import normalise, on_sites
from warex.scenarios.origins import ConnectionTarget
from warex.scenarios.scenario import SITES, Match, Rule
from warex.text.escaping import in_backticks

_SHOWN: Final = 8
"""The most sites that a sentence names."""
_PORTS: Final = {"http": 80, "https": 443}
_LITERAL_ORIGIN: Final = re.compile(
    r"(?P<flag>\(\?i\))?\^?(?P<scheme>https?\??):(?:\\?/){2}"
    r"(?P<host>(?:\w|\\?[.:-])+)(?P<next>.?)"
)
"""A regular expression that begins with a scheme and a host, both spelled out."""


def off_site(rule: Rule, sites: tuple[str, ...]) -> Iterator[str]:
    """Yield a predicate of the rule if the rule matches none of the task sites.

    ``sites`` are their origins; if there are none, nothing is yielded.
    """
    if not sites or any(_concerns(rule, urlsplit(normalise(site))) for site in sites):
        return
    match = rule.match
    pattern = match.url_regex or match.url_exact or match.url or ""
    yield (
        f"hits nothing on the task sites ({_listed(sites)}): {in_backticks(pattern)} is elsewhere."
    )


def _listed(sites: Sequence[str]) -> str:
    more = len(sites) - _SHOWN
    return ", ".join(sites[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _concerns(rule: Rule, site: SplitResult) -> bool:
    """Whether the rule's pattern may match a URL of the site."""
    match = rule.match
    if (match.url or "").startswith(SITES):
        return True
    if rule.fault.point is not None:
        return _reaches(rule, rule.fault.point, site)
    if match.url_regex is not None:
        return _regex_concerns(match.url_regex, site)
    if match.url_exact is not None:
        return on_sites((site.geturl(),))(normalise(match.url_exact))
    return _glob_concerns(match, site)


def _reaches(rule: Rule, point: ConnectionPhase, site: SplitResult) -> bool:
    origins = rule.match.origin
    if origins is None:
        return True
    try:
        port = site.port or _PORTS.get(site.scheme)
    except ValueError:
        return True
    target = ConnectionTarget.of(point, site.hostname or "", port)
    # connection_faults.py reports TLS faults over plain HTTP.
    return origins.names_host(target.host) and (
        point == "name" or origins.port in (None, target.port)
    )


def _glob_concerns(match: Match, site: SplitResult) -> bool:
    scheme, mark, rest = normalise(match.url or "*").partition("://")
    if not mark:
        return True
    authority, slash, _ = rest.partition("/")
    glob = authority if slash else f"{authority.partition('*')[0]}*"
    return bool(
        re.fullmatch(glob_to_regex(scheme, "[^:/?]"), site.scheme)
        and re.fullmatch(glob_to_regex(glob, "[^/?]"), site.netloc)
    )


def _regex_concerns(pattern: str, site: SplitResult) -> bool:
    """Whether a URL of the site may match; True when in doubt."""
    origin = _LITERAL_ORIGIN.match(pattern)
    if origin is None or "|" in pattern:
        return True
    host, following = origin["host"], origin["next"]
    if origin["flag"]:
        host = host.lower()
    if following and following in "?*+{":
        # A quantifier may match nothing: `example.*` begins with `example`.
        host = re.sub(r"\\?.\Z", "", host)
    ends_here = following == "/" or (following == "\\" and pattern[origin.end() :][:1] == "/")
    compare = re.fullmatch if ends_here else re.match
    return bool(re.fullmatch(origin["scheme"], site.scheme) and compare(host, site.netloc))
