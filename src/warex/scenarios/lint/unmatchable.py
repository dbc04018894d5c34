"""Rules that can never match, and why, as far as the scenario alone tells."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit

from warex.exchange import SUBRESOURCES, Resource, resource_by_extension
from warex.faults import ConnectionFault
from warex.scenarios.globs import glob_to_regex
from warex.scenarios.lint.answers import unchangeable
from warex.scenarios.lint.connection_faults import cannot_fail
from warex.scenarios.matching.exclusions import EXCLUSIONS
from warex.scenarios.matching.url_patterns import any_of, normalise
from warex.scenarios.scenario import SITES, Rule
from warex.text.english import with_article
from warex.text.escaping import in_backticks

_SCHEMES: Final = ("http", "https", "mcp+stdio")
_SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
_ANY_URL_MAY_BE: Final = {"document", "xhr", "other"}
"""Kinds that a URL with any file extension may have."""
_MEDIA_TYPE: Final = re.compile(r"[^/;\s]+/[^/;\s]+")
_LITERAL: Final = re.compile(r"\^((?:[\w:/%~@#-]|\\[./:@#-]|\.(?![?*+{]))*)([?*{]?)")


def unmatchable(
    rule: Rule, never: tuple[str, ...] = (), sites: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield a predicate of the rule for each reason why it can never match.

    ``never``: the scenario's own exclusions; ``sites``: the task sites' origins, if known.
    """
    reasons = [*_pattern(rule), *_excluded(rule, never, sites)]
    if rule.fault.point is None:
        reasons += [*_methods(rule), *_websockets(rule), *_kind_of_url(rule), *_answers(rule)]
        reasons += list(_pages(rule)) or list(unchangeable(rule))
    reasons += _chance(rule)
    if isinstance(rule.fault, ConnectionFault):
        reasons += cannot_fail(rule, rule.fault, sites)
    yield from (f"can never apply: {reason}." for reason in reasons)


def exclusions_without_effect(never: tuple[str, ...]) -> Iterator[str]:
    """Yield a sentence for each exclusion that fits no URL."""
    for pattern in never:
        quoted = in_backticks(pattern)
        if SITES in pattern:
            yield f"`never` takes {SITES} literally, so {quoted} excludes nothing."
        elif not pattern.startswith("*") and "://" not in pattern:
            yield f"`never` excludes nothing by {quoted}: {_begin_otherwise(pattern)}."
        elif why := next(iter((*_scheme(pattern), *_no_glob(pattern))), None):
            yield f"`never` excludes nothing by {quoted}: {why}."


def _begin_otherwise(pattern: str) -> str:
    complete = f"*://*{pattern}" if pattern.startswith("/") else f"https://{pattern}"
    return (
        f"no URL begins like {in_backticks(pattern)}; write for instance {in_backticks(complete)},"
        " or begin with *"
    )


def _pattern(rule: Rule) -> Iterable[str]:
    """Yield the reason why no URL fits the pattern."""
    match = rule.match
    if match.url_regex is not None:
        yield from _regex(match.url_regex)
        return
    key, pattern = ("url_exact", match.url_exact) if match.url_exact else ("url", match.url or "*")
    if key == "url_exact" and pattern.startswith(SITES):
        yield f"url_exact takes {SITES} literally; write it under `url`"
        return
    if SITES in pattern.removeprefix(SITES):
        yield f"{SITES} has a meaning only in front, and {in_backticks(pattern)} has it elsewhere"
        return
    if not pattern.startswith(("*", SITES)) and "://" not in pattern:
        yield _begin_otherwise(pattern)
        return
    if rule.fault.point is not None:
        return
    _, mark, rest = normalise(pattern).partition("://")
    if mark and not pattern.startswith(SITES):
        yield from _scheme(pattern)
        if "@" in rest.partition("/")[0]:
            yield f"{in_backticks(pattern)} holds a user's name, which no URL on the wire has"
    plain = pattern.removeprefix(SITES)
    if plain != pattern and not plain.startswith(("/", "?", "*", "#")) and plain:
        yield (
            f"what follows {SITES} begins with / or *, and {in_backticks(pattern)} goes on with"
            f" {plain[0]!r}"
        )
    if bad := next((sign for sign in plain.partition("#")[0] if not "!" <= sign <= "~"), None):
        yield (
            f"{in_backticks(pattern)} holds {bad!r}, and URLs on the wire are percent-encoded"
            " ASCII; write it as a browser's address bar copies it"
        )
    if key == "url" and (why := next(iter(_no_glob(pattern)), None)):
        yield f"{why}; write it under `url_regex`"


def _scheme(glob: str) -> Iterable[str]:
    """Yield the reason why no URL has the scheme or the port of a glob."""
    scheme, mark, rest = normalise(glob).partition("://")
    if not mark:
        return
    known = [each for each in _SCHEMES if re.fullmatch(glob_to_regex(scheme, "[^:/?]"), each)]
    port = rest.partition("/")[0].rpartition(":")[2]
    if not known:
        yield (
            f"nothing is asked for over {scheme}://; there are http, https, ws and wss, and"
            " mcp+stdio of tools"
        )
    elif "*" in scheme and port == "443" and "https" in known:
        yield f"URLs are compared without the default port, and {in_backticks(glob)} says :{port}"


def _no_glob(pattern: str) -> Iterable[str]:
    plain = pattern.removeprefix(SITES)
    if "\\" in plain or "/.*" in plain or pattern.startswith("^") or pattern.endswith("$"):
        yield (
            f"{in_backticks(pattern)} looks like a regular expression, and this is a glob in which"
            " only * is special"
        )


def _regex(pattern: str) -> Iterable[str]:
    """Yield the reasons why no URL matches the regular expression, in the plain cases."""
    if pattern.startswith(SITES):
        yield f"url_regex takes {SITES} literally; write a glob under `url`"
        return
    if "|" in pattern or pattern.startswith("(?"):
        return
    if re.match(r"wss?\??:", pattern):
        yield (
            f"no URL matches {in_backticks(pattern)}: a WebSocket's URL is that of its handshake,"
            " http or https"
        )
        return
    for sign, why in (("#", "compared without their fragment"), (" ", "percent-encoded")):
        if re.search(rf"(?<!\\)\\?{sign}(?![?*{{])", pattern) and not re.search(r"[\[(]", pattern):
            yield f"its regular expression holds {sign!r}, and URLs are {why}"
    literal = _LITERAL.match(pattern)
    if literal is None:
        return
    begin = re.sub(r"\\(.)", r"\1", literal[1])
    begin = begin[:-1] if literal[2] else begin
    starts = [f"{scheme}://" for scheme in _SCHEMES]
    if not any(begin.startswith(start) or start.startswith(begin) for start in starts):
        yield (
            f"no URL begins like {in_backticks(begin)}; URLs begin with http:// or https://, ws"
            " among them"
        )
        return
    scheme, mark, rest = begin.partition("://")
    host, slash, _ = rest.partition("/")
    if mark and host != host.lower():
        begin = in_backticks(host)
        yield f"hosts are compared in lower case, and its regular expression says {begin}"
    if slash and host.endswith({"http": ":80", "https": ":443"}.get(scheme, "/")):
        yield f"URLs are compared without the default port, and it says {in_backticks(host)}"


def _excluded(rule: Rule, never: tuple[str, ...], sites: tuple[str, ...]) -> Iterable[str]:
    """Yield the first exclusion that covers every URL that the rule is about."""
    wanted = _globs(rule, sites)
    if not wanted:
        return
    for pattern in (*EXCLUSIONS, *never):
        if all(any_of((pattern,))(glob) for glob in wanted):
            whose = "of the scenario" if pattern in never else "that is built in"
            yield f"all that it is about is excluded by `never`, {in_backticks(pattern)}, {whose}"
            return


def _globs(rule: Rule, sites: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs over whole URLs that the rule is about; none if it has a regular expression."""
    match = rule.match
    if match.url_regex is not None:
        return ()
    pattern = match.url_exact or match.url or "*"
    if pattern.startswith(SITES):
        rest = pattern.removeprefix(SITES) or "/*"
        bases = [site.removesuffix("*").rstrip("/") for site in sites] or ["*://*"]
        globs = tuple(f"{base}{rest}" for base in bases)
    elif rule.fault.point is not None and pattern.count("/") <= 3:
        globs = (f"{pattern.rstrip('/*')}/*" if "://" in pattern else pattern,)
    else:
        globs = (pattern,)
    return tuple(map(normalise, globs))


def _methods(rule: Rule) -> Iterable[str]:
    methods, resources = rule.methods, set(rule.resources)
    if not methods:
        return
    listed = " or ".join(methods)
    usual = set(rule.fault.default_methods)
    if usual and not usual & _SAFE and set(methods) <= _SAFE:
        yield f"{rule.fault.kind} is about writes, and the rule about {listed} only"
    elif set(methods) <= {"CONNECT"}:
        yield "CONNECT opens a tunnel, and is not an exchange with a site"
    elif resources and not rule.needs_response:
        if resources <= SUBRESOURCES and not set(methods) & {"GET", "HEAD"}:
            kinds = " or ".join(rule.resources)
            yield f"requests whose resource is {kinds} are GET, and the rule is about {listed}"
        elif resources <= {"document"} and not set(methods) & {"GET", "HEAD", "POST"}:
            yield f"a browser asks for a document by GET or POST, and the rule is about {listed}"


def _websockets(rule: Rule) -> Iterable[str]:
    """Yield the reason if the pattern is about WebSockets and the rule is not."""
    if rule.targets_llm or rule.targets_mcp:
        return
    if rule.match.of_websockets and "websocket" not in rule.resources:
        yield (
            f"{in_backticks(rule.match.url_exact or rule.match.url or '')} is about WebSockets"
            f" only, and the rule about {_resources(rule)} only; name websocket under `resource`"
        )


def _resources(rule: Rule) -> str:
    default = "" if rule.match.resource else f", the default of {rule.fault.kind},"
    return f"{' or '.join(rule.resources)}{default}"


def _kind_of_url(rule: Rule) -> Iterable[str]:
    """Yield the reason if the pattern names a file of another kind than the rule's resources."""
    resources = set(rule.resources)
    kind, ending = _kind(rule)
    if kind is None or not resources or resources & ({kind} | _ANY_URL_MAY_BE):
        return
    if rule.match.of_websockets or (kind == "document" and "websocket" in resources):
        return
    yield (
        f"its pattern is about {ending}, {with_article(kind)}, and the rule about"
        f" {_resources(rule)} only; name {kind} under `resource`"
    )


def _kind(rule: Rule) -> tuple[Resource | None, str]:
    match = rule.match
    if match.url_regex is not None:
        ending_match = re.search(r"\\(\.\w+)\$$", match.url_regex)
        ending = ending_match[1] if ending_match and "|" not in match.url_regex else ""
    else:
        pattern = (match.url_exact or match.url or "*").partition("?")[0]
        if "*" not in pattern and "://" in pattern and urlsplit(normalise(pattern)).path == "/":
            return "document", "a site's first page"
        last = posixpath.basename(normalise(pattern).removeprefix(SITES))
        # Only a path has an extension: shop.example is a host.
        has_path = "/" in pattern.partition("://")[2] or not pattern.startswith("http")
        ending = posixpath.splitext(last)[1] if has_path and not last.endswith("*") else ""
    kind = resource_by_extension(ending)
    return (None if kind == "xhr" else kind), f"{ending} files"


def _answers(rule: Rule) -> Iterable[str]:
    if rule.match.status and not any(it >= 200 or it == 101 for it in rule.match.status):
        yield "a site's answer has a status of 200 or above, or 101 for a WebSocket"
    types = rule.match.content_type or ()
    if types and not any(_MEDIA_TYPE.fullmatch(each.strip()) for each in types):
        yield (
            f"{in_backticks(types[0])} is not a media type; write for instance text/html or"
            " image/*, without parameters"
        )


def _pages(rule: Rule) -> Iterable[str]:
    """Yield the reason if the fault changes pages and the rule matches none."""
    if rule.fault.changes_page and set(rule.resources) <= SUBRESOURCES:
        yield (
            f"{rule.fault.kind} changes pages, and the rule is about {_resources(rule)} only; name"
            " document under `resource`"
        )
    pattern = rule.match.url_exact or rule.match.url or ""
    if rule.fault.needs_secure_page and _is_insecure(pattern):
        yield (
            f"{rule.fault.kind} needs a page over HTTPS or of localhost, and"
            f" {in_backticks(pattern)} is of plain HTTP"
        )


def _is_insecure(pattern: str) -> bool:
    """Whether all URLs that fit are of plain HTTP to another machine (W3C, Secure Contexts)."""
    scheme, _, rest = pattern.partition("://")
    host = rest.partition("/")[0]
    name = host[: host.find("]") + 1] if host.startswith("[") else host.partition(":")[0]
    is_local = name in ("localhost", "[::1]") or name.endswith(".localhost")
    return scheme == "http" and not is_local and not name.startswith("127.") and "*" not in name


def _chance(rule: Rule) -> Iterable[str]:
    trigger = rule.trigger
    chance = trigger.random.probability if trigger.random else trigger.probability
    if chance == 0:
        yield "its probability is 0"
