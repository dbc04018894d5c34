"""What a trial's proxy saw, for those who keep no trace: hosts, browsers, calls of a model.

A browser that runs elsewhere is recognised by how it is driven: its pages do not come through here.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypedDict
from urllib.parse import SplitResult, urlsplit

from warex.exchange import BROWSER
from warex.scenarios.matching.exclusions import is_background
from warex.traces import Armed, Event, LlmCall, LlmUnread, RequestSeen, TaskBegan, Tunnel

_CDP_PATH = re.compile(r"/devtools/(browser|page)/|^/playwright(/|$)")
"""How a browser is driven over a WebSocket: Chrome's own protocol, and Playwright's."""
_BROWSER_SERVICES = re.compile(
    r"(^|\.)(browserless\.io|browserbase\.com|steel\.dev|hyperbrowser\.ai|anchorbrowser\.io"
    r"|lambdatest\.com|browserstack\.com|saucelabs\.com|superproxy\.io|playwright\.microsoft\.com"
    r"|browser-use\.com)$"
)
"""Services that rent browsers, by the domain of their endpoints."""
_NEW_SESSION = re.compile(r"(^|/)session$")
"""WebDriver's call that starts a browser (W3C WebDriver §8.1), whatever the hub's prefix."""


class TrafficSummary(TypedDict):
    """What was seen, as it crosses a process."""

    hosts: dict[str, int]
    browser: bool
    exchanges: int
    llm_calls: int
    llm_unread: int
    llm_unread_first: str
    armed: bool
    tasks: int
    unattributed: int
    delivered: int
    missed: int


@dataclass(slots=True)
class TrafficCounter:
    """Looks at every event of one trial."""

    notices: Callable[[str], None] = lambda sentence: None
    """Told of a browser that runs elsewhere."""
    hosts: Counter[str] = field(default_factory=Counter)
    """Exchanges and connections for each host, the browser's own background left out."""
    browser: bool = False
    """Whether a browser asked for anything of a page's."""
    llm_calls: int = 0
    llm_unread: int = 0
    llm_unread_first: str = ""
    """Where the first of those went, and why it could not be read."""
    armed: bool = False
    tasks: int = 0
    """How often a task began."""
    unattributed: int = 0
    """Exchanges that belong to no task."""

    def add(self, event: Event) -> None:
        """Note what an event says."""
        match event:
            case RequestSeen():
                self._request(event)
            case Tunnel() if event.why != "background":
                self.hosts[event.host] += 1
            case LlmCall():
                self.llm_calls += 1
            case LlmUnread():
                self.llm_unread += 1
                where_and_why = f"{event.url.partition('?')[0]}: {event.reason}"
                self.llm_unread_first = self.llm_unread_first or where_and_why
            case TaskBegan():
                self.tasks += 1
            case Armed():
                self.armed = True
            case _:
                pass

    def _request(self, event: RequestSeen) -> None:
        self.unattributed += not event.task
        parts = urlsplit(event.url)
        by_browser = any(
            name.lower() == "user-agent" and value.startswith(BROWSER)
            for name, value in event.headers
        )
        if by_browser and is_background(event.url):
            return  # It says nothing of the way that its pages take.
        self.hosts[parts.hostname or ""] += 1
        self.browser |= by_browser
        if (driven := _remote_browser(event, parts)) is not None:
            self.notices(
                f"{driven} at {parts.hostname} drives a browser that runs there: its pages do not"
                " come through WAREX, only the commands to it do"
            )


def _remote_browser(event: RequestSeen, parts: SplitResult) -> str | None:
    """Return how this request drives a browser on another machine; None where it does not."""
    host = parts.hostname or ""
    if _is_loopback(host):
        return None
    if event.resource == "websocket" and (
        _CDP_PATH.search(parts.path) or _BROWSER_SERVICES.search(host)
    ):
        return "a WebSocket"
    if event.method == "POST" and _NEW_SESSION.search(parts.path) and _speaks_webdriver(event):
        return "a WebDriver session"
    return None


def _speaks_webdriver(event: RequestSeen) -> bool:
    """Whether no browser sent it: a site's own login may well be a POST to /session."""
    headers = {name.lower(): value for name, value in event.headers}
    is_json = headers.get("content-type", "").startswith("application/json")
    return is_json and not headers.get("user-agent", "").startswith("Mozilla/")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
