"""The part of an exchange that a match sees, and the matching of rules."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import NamedTuple, Self

from warex.exchange import SUBRESOURCES, Exchange, Resource, Server, resource_of
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.hosts import is_known_llm_host
from warex.mcp.exchange import McpExchange
from warex.scenarios.matching.url_patterns import host_of, matcher, names_host, normalise
from warex.scenarios.scenario import LlmMatch, Rule
from warex.text.short_cache import cached_if_short


class Candidate(NamedTuple):
    """An exchange as a match sees it, at the request or at the response."""

    method: str
    url: str
    """Normalised."""
    resource: Resource
    server: Server = "site"
    status: int | None = None
    """None until the site has answered."""
    media_type: str = ""
    call: tuple[str, str, int] | None = None
    """The API, requested model and step of a call to a model."""
    tools: tuple[tuple[str, str], ...] | None = None
    """The method and tool of each request to an MCP server."""
    top_level: bool = True
    """Whether it is not for a frame."""
    third_party: bool = False
    """Whether its site differs from the page's."""

    @classmethod
    def of(cls, exchange: Exchange) -> Self:
        """Return the exchange as a match sees it now."""
        request, response = exchange.request, exchange.response
        resource = resource_of(request, response)
        seen = cls(request.method, normalise(request.url), resource, exchange.server)
        if resource == "document" and not request.is_top_level:
            seen = seen._replace(top_level=False)
        if resource in SUBRESOURCES and request.is_third_party:
            seen = seen._replace(third_party=True)
        if isinstance(exchange, LlmExchange):
            asked = exchange.llm_request
            seen = seen._replace(call=(asked.api, asked.model, exchange.step))
        if isinstance(exchange, McpExchange):
            seen = seen._replace(tools=tuple((it.method, it.tool) for it in exchange.mcp_requests))
        if response is None:
            return seen
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return seen._replace(status=response.status, media_type=media_type)

    @property
    def scope(self) -> str:
        """What ``per: url`` numbers: the method and the URL of the ledger, without secrets.

        The numbering does not depend on a session's token, and a replay finds it in the trace.
        """
        return f"{self.method} {_as_recorded(self.url)}"


def rule_matcher(rule: Rule, sites: tuple[str, ...]) -> Callable[[Candidate], bool]:
    """Return a predicate: whether the rule matches a candidate.

    A rule matches requests to a model or an MCP server only if it is about such requests (by its
    match or fault), or names the host.
    """
    match, resources = rule.match, rule.resources
    url_fits = matcher(match, sites)
    methods, statuses = rule.methods, match.status
    of_llm, llm = rule.targets_llm, match.llm
    of_mcp = rule.targets_mcp
    whole_pages = rule.fault.changes_page and match.resource is None and "document" in resources
    third_parties = rule.fault.third_party_only
    of_websockets = match.of_websockets
    media_types = tuple(wanted.lower() for wanted in rule.media_types)

    def fits(candidate: Candidate) -> bool:
        if methods is not None and candidate.method not in methods:
            return False
        if resources and candidate.resource not in resources:
            return False
        if whole_pages and not candidate.top_level:
            return False
        if third_parties and not candidate.third_party:
            return False
        if of_websockets and candidate.resource != "websocket":
            return False
        if not url_fits(candidate.url):
            return False
        if candidate.status is not None:
            if statuses is not None and candidate.status not in statuses:
                return False
            if media_types and not any(_is_a(candidate.media_type, it) for it in media_types):
                return False
        if of_llm:
            return candidate.call is not None and (llm is None or _is_asked(candidate.call, llm))
        if of_mcp:
            return any(_is_about(rule, *request) for request in candidate.tools or ())
        host = host_of(candidate.url)
        is_site = candidate.server == "site" and not is_known_llm_host(host)
        return is_site or names_host(match, host)

    return fits


def _is_asked(call: tuple[str, str, int], wanted: LlmMatch) -> bool:
    family, model, step = call
    return (
        (wanted.family is None or family in wanted.family)
        and (wanted.model is None or fnmatchcase(model, wanted.model))
        and (wanted.step is None or step in wanted.step)
    )


def _is_about(rule: Rule, method: str, tool: str) -> bool:
    wanted = rule.match.mcp
    if wanted is not None and wanted.method is not None:
        about = any(fnmatchcase(method, glob) for glob in wanted.method)
    else:
        about = rule.fault.asks_tools(method, tool)
    tools = None if wanted is None else wanted.tool
    return about and (tools is None or any(fnmatchcase(tool, it) for it in tools))


def _is_a(media_type: str, wanted: str) -> bool:
    kind, _, subtype = wanted.partition("/")
    return media_type == wanted or (subtype == "*" and media_type.startswith(f"{kind}/"))


@cached_if_short(maxsize=1024)
def _as_recorded(url: str) -> str:
    # Imported late, since commands that read a scenario should start fast.
    from warex.traces import redact_url

    return redact_url(url).encode("utf-8", "replace").decode()
