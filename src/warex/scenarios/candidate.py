"""What a match looks at, and whether it holds."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Self

from warex.exchange import Exchange, Resource, resource_of
from warex.llm.hosts import is_known_llm_host
from warex.scenarios.patterns import host_of, matcher, names_host, normalise
from warex.scenarios.scenario import Rule


class Candidate(NamedTuple):
    """An exchange as far as a match looks at it: when it arrives, or when it is answered."""

    method: str
    url: str
    """Normalised."""
    resource: Resource
    llm: bool
    """Whether the request goes to a model."""
    status: int | None = None
    """None until the site has answered."""
    media_type: str = ""

    @classmethod
    def of(cls, exchange: Exchange, *, llm: bool) -> Self:
        """Return what a match may look at now."""
        request, response = exchange.request, exchange.response
        url, resource = normalise(request.url), resource_of(request, response)
        if response is None:
            return cls(request.method, url, resource, llm)
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return cls(request.method, url, resource, llm, response.status, media_type)

    @property
    def scope(self) -> str:
        """What ``per: url`` numbers: the method and the URL as the ledger names it.

        Without secrets, so that neither a ledger holds a session's token nor the numbering
        depends on it, and a replay finds in the trace what it is to count.
        """
        return f"{self.method} {_as_recorded(self.url)}"


def candidates_of(rule: Rule, sites: tuple[str, ...]) -> Callable[[Candidate], bool]:
    """Return whether a rule is about a candidate, as far as the candidate tells.

    No rule is about a request to a model unless it spells the host out.
    """
    match, resources = rule.match, rule.resources
    url_fits = matcher(match, sites)
    methods, statuses = match.method, match.status
    media_types = tuple(wanted.lower() for wanted in match.content_type or ())

    def fits(candidate: Candidate) -> bool:
        if methods is not None and candidate.method not in methods:
            return False
        if resources and candidate.resource not in resources:
            return False
        if not url_fits(candidate.url):
            return False
        if candidate.status is not None:
            if statuses is not None and candidate.status not in statuses:
                return False
            if media_types and not any(_is_a(candidate.media_type, it) for it in media_types):
                return False
        host = host_of(candidate.url)
        return not (candidate.llm or is_known_llm_host(host)) or names_host(match, host)

    return fits


def _is_a(media_type: str, wanted: str) -> bool:
    kind, _, subtype = wanted.partition("/")
    return media_type == wanted or (subtype == "*" and media_type.startswith(f"{kind}/"))


@lru_cache(maxsize=1024)
def _as_recorded(url: str) -> str:
    # Only here: a scenario is read before a command starts, which waits for nothing that it can do
    # without.
    from warex.traces import redact_url

    return redact_url(url).encode("utf-8", "replace").decode()
