"""Checks by the agent's own first page that its browser uses the proxy.

An agent that opens a page of its task's site first needs no canary. If no page was requested
before its first LLM call, the browser bypasses the proxy, and the trial is void.
"""

from urllib.parse import urlsplit

from warex.errors import TrialVoid
from warex.exchange import BROWSER
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.lane.record.traffic_summary import user_agent
from warex.traces import Canary, Event, FaultPlanned, RequestSeen, SiteUnreachable


class FirstPageCanary:
    """Watches a trial's events for the first page, if ``own_proof`` is set."""

    def __init__(self, config: ProxyConfig, recorder: Recorder) -> None:
        """Take the task's sites and ``own_proof`` from the configuration."""
        self._sites = config.sites
        self._hosts = {urlsplit(site).hostname for site in config.sites}
        self._recorder = recorder
        self._wanted = config.own_proof

    def handle_event(self, event: Event) -> None:
        """Record the proof if this event, which is already in the trace, proves it."""
        if not self._wanted:
            return
        if isinstance(event, SiteUnreachable):
            host, page = event.host.lower(), f"{event.host}:{event.port}, which is down"
        else:
            page = _browser_url(event) or ""
            host = urlsplit(page).hostname or ""
        if host in self._hosts:
            self._wanted = False
            self._recorder.write(Canary(passed=True, detail=f"the agent's own first page: {page}"))

    def before_llm_call(self) -> None:
        """Raise TrialVoid if no browser request was seen before the first LLM call."""
        if not self._wanted:
            return
        self._wanted = False
        missing = f"no page of {', '.join(self._sites)} came through the proxy"
        self._recorder.write(Canary(passed=False, detail=missing))
        raise TrialVoid(
            f"bypassed or never asked for: the agent called its model, but {missing} before that."
            " This agent opens a page first, so most likely its browser goes past the proxy;"
            " agent.log says more"
        )


def _browser_url(event: Event) -> str | None:
    """Return the URL that a browser requested, if the event is of such a request."""
    match event:
        case RequestSeen(url=url):
            return url if user_agent(event).startswith(BROWSER) else None
        case FaultPlanned(url=url, point=point) if point is not None:
            return url  # A fault of a connection try.
        case _:
            return None
