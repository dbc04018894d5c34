"""Checks that a trial's defence was applied."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from warex.errors import TrialVoid
from warex.llm.defences import Defence
from warex.llm.recognition.hosts import is_known_llm_host
from warex.traces import (
    Counted,
    DefenceApplied,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    Trace,
    Tunnel,
    Unscored,
)

_BEFORE_ASKING = ("agent_crashed", "harness_crashed", "time_limit")
"""Endings that are possible before the first LLM request."""


def require_defence_applied(
    trace: Trace, defence: Defence | None, outcome: Counted | Unscored, llm_hosts: Sequence[str]
) -> None:
    """Raise TrialVoid if the model was asked and the defence was applied to no request.

    ``llm_hosts`` are the hosts of the agent's endpoint beside the well-known ones. A trial that
    ended before the first LLM request counts: voiding it would bias the sample towards trials whose
    first page loads.
    """
    if defence is None or any(trace.events(DefenceApplied)):
        return
    hosts = list(filter(None, _asked(trace, llm_hosts)))
    kept_from_it = any(
        _is_llm(urlsplit(fault.url).hostname, llm_hosts)
        for fault in trace.events(FaultPlanned)
        if fault.point is not None
    )
    if not hosts and (kept_from_it or outcome.ending in _BEFORE_ASKING):
        return
    where = f" at {hosts[0]}" if hosts else ""
    raise TrialVoid(
        f"the defence {defence.name!r} was added to no LLM request: the agent asked its model"
        f"{where} past the proxy, or in a way that it does not read"
    )


def _asked(trace: Trace, llm_hosts: Sequence[str]) -> Iterator[str | None]:
    """Yield the hosts of models to which a request was sent."""
    for call in trace.events(LlmCall):
        yield urlsplit(call.url).hostname
    for request in trace.events(RequestSeen):
        host = urlsplit(request.url).hostname
        if request.method == "POST" and _is_llm(host, llm_hosts):
            yield host
    for tunnel in trace.events(Tunnel):
        if _is_llm(tunnel.host, llm_hosts):
            yield tunnel.host


def _is_llm(host: str | None, llm_hosts: Sequence[str]) -> bool:
    if host is None:
        return False
    return is_known_llm_host(host) or any(
        fnmatchcase(host.lower(), pattern.lower()) for pattern in llm_hosts
    )
