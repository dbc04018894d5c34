"""Checks of a trial's trace: pages of the task's sites came through, and the model answered.

Where the agent opens a page first, that page replaces the canary.
"""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from warex.errors import TrialVoid
from warex.exchange import BROWSER
from warex.extras import documentation
from warex.sandbox.isolation import Isolation
from warex.scenarios.matching.exclusions import is_background
from warex.traces import Canary, FaultPlanned, LlmCall, RequestSeen, Trace, Tunnel
from warex.trials.context import TrialContext

_NAMED = 3
"""Largest number of other hosts in a message."""


def first_page_is_proof(context: TrialContext) -> bool:
    """Return whether no canary is needed: the agent opens a page first, and WAREX reads it."""
    return context.benchmark.opens_page_first and context.traffic.reads_everything


def require_first_page(trace: Trace, sites: Sequence[str], reached: bool | None) -> None:
    """Raise TrialVoid if no page of the agent's browser came through the proxy.

    ``reached``: whether the sites were asked for a page, by whatever way; None if unknown.
    """
    if any(canary.passed for canary in trace.events(Canary)):
        return
    pages = _no_page(sites)
    if reached is False:
        raise TrialVoid(
            f"the agent opened no page, so nothing shows where its browser goes: {pages}"
        )
    if reached is None:
        raise TrialVoid(
            f"bypassed or never asked for: the agent ran, but {pages}. This agent opens a page"
            " first, so most likely its browser goes past the proxy; agent.log says more"
        )
    raise TrialVoid(_bypass_message(f"the agent ran, but {pages}"))


def require_pages(
    trace: Trace,
    sites: Sequence[str],
    verifiers: Sequence[str] = (),
    *,
    reached: bool | None = None,
    isolation: Isolation = "environment",
) -> None:
    """Raise TrialVoid if no request for the task's sites came through; no sites: for any site.

    Requests by ``verifiers`` (User-Agent prefixes) do not count. ``reached``: whether the sites
    were asked for a page, by whatever way; None if unknown. If False, nothing was bypassed.
    """
    if reached is False:
        return
    calls = {event.exchange for event in trace.events(LlmCall)}
    asked = [
        event
        for event in trace.events(RequestSeen)
        if event.exchange not in calls
        and not _agent_of(event).startswith(tuple(verifiers))
        and not (_agent_of(event).startswith(BROWSER) and is_background(event.url))
    ]
    seen = {urlsplit(event.url).hostname for event in asked}
    # A passed-through host appears as a tunnel; the browser's background traffic does not count.
    seen |= {event.host for event in trace.events(Tunnel) if event.why != "background"}
    # A connection that a fault refused was tried.
    seen |= {urlsplit(it.url).hostname for it in trace.events(FaultPlanned) if it.point is not None}
    wanted = {urlsplit(site).hostname for site in sites}
    if seen & wanted if wanted else seen:
        return
    what = f"{'the agent called its model' if calls else 'the agent ran'}, but {_no_page(sites)}"
    if reached:
        raise TrialVoid(_bypass_message(what))
    pages = (event for event in asked if _agent_of(event).startswith(BROWSER))
    browsed = {urlsplit(event.url).hostname or "" for event in pages}
    raise TrialVoid(f"bypassed or never asked for: {what}. {_bypass_hint(browsed, isolation)}")


def _no_page(sites: Sequence[str]) -> str:
    """Return the clause that no page of the sites came through."""
    return f"no page of {', '.join(sites) or 'any site'} came through the proxy"


def _bypass_message(what: str) -> str:
    """Return the message for sites that are known to have been asked for pages."""
    return (
        f"bypassed: {what}, although the site was asked for pages, so its browser goes past it;"
        f" tell its harness of the proxy ({documentation('how-to/point-your-agent-at-it')})"
    )


def _bypass_hint(browsed: Iterable[str], isolation: Isolation) -> str:
    """Return how likely it is that the browser bypasses the proxy, and the remedy."""
    look = "look into the attempt's agent.log"
    if others := sorted(browsed):
        more = ", …" if len(others) > _NAMED else ""
        return (
            f"A browser's requests to {', '.join(others[:_NAMED])}{more} did, so most likely the"
            f" agent never opened the site: {look}, and whether benchmark.sites names the right one"
        )
    if isolation == "namespace":
        return (
            "In its namespace only loopback and a browser on another machine go past the proxy, so"
            f" most likely the agent never opened the site: {look}"
        )
    return (
        "Either the agent never opened the site, or its browser does not use the proxy; WAREX"
        f" cannot see which: {look}, or use --isolate namespace, where the network leaves"
        " no other way"
    )


def require_model_answer(trace: Trace) -> None:
    """Raise TrialVoid if the model was asked and never answered, and no fault was the cause.

    Some harnesses report this as a failed task, or retry until the time limit.
    """
    calls = list(trace.events(LlmCall))
    hit = {event.exchange for event in trace.events(FaultPlanned)}
    if calls and all(each.status != 200 and each.exchange not in hit for each in calls):
        raise TrialVoid(f"its model never answered: {calls[-1].error or 'no answer'}")


def _agent_of(event: RequestSeen) -> str:
    return next((value for name, value in event.headers if name.lower() == "user-agent"), "")
