"""Whether the agent's own first page proves that its browser comes this way.

An agent that opens a page of its task's site before all else needs no canary: where its browser is
not seen here by the time that its model is asked, it goes past, and the trial is void at once.
"""

from urllib.parse import urlsplit

from warex.errors import TrialVoid
from warex.exchange import BROWSER
from warex.proxy.config import ProxyConfig
from warex.proxy.record.recorder import Recorder
from warex.traces import Canary, Event, FaultPlanned, RequestSeen


class FirstPageCanary:
    """Looks at a trial's events for the first page, where that is to be the proof."""

    def __init__(self, config: ProxyConfig, recorder: Recorder) -> None:
        """Take the task's sites; without ``own_proof`` there is nothing to be proved."""
        self._sites = config.sites
        self._hosts = {urlsplit(site).hostname for site in config.sites}
        self._recorder = recorder
        self._wanted = config.own_proof

    def handle_event(self, event: Event) -> None:
        """Record the proof where this event, which stands in the trace by now, is it."""
        if self._wanted and (url := _browser_url(event)) and urlsplit(url).hostname in self._hosts:
            self._wanted = False
            self._recorder.write(Canary(passed=True, detail=f"the agent's own first page: {url}"))

    def before_llm_call(self) -> None:
        """Raise TrialVoid, before the model is paid, where the browser has not been seen yet."""
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
    """Return the address that a browser came here for."""
    match event:
        case RequestSeen(url=url, headers=headers):
            agents = (value for name, value in headers if name.lower() == "user-agent")
            return url if next(agents, "").startswith(BROWSER) else None
        case FaultPlanned(url=url, point=point) if point is not None:
            return url  # It was kept from reaching the site, here.
        case _:
            return None
