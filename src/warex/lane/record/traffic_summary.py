"""A summary of a trial's traffic, for use without a trace: hosts, browsers, LLM calls.

A remote browser is detected by the protocol that drives it; its pages bypass the proxy.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import TypedDict
from urllib.parse import urlsplit

from msgspec import Struct, field

from warex.exchange import BROWSER
from warex.lane.record.ip_address import parse_ip
from warex.scenarios.matching.exclusions import is_background
from warex.text.short_cache import cached_if_short
from warex.traces import (
    AgentAction,
    Armed,
    Event,
    LlmCall,
    LlmUnread,
    RequestSeen,
    SiteUnreachable,
    TaskBegan,
    Tunnel,
)
from warex.traffic import BACKGROUND_HOSTS

_CDP_PATH = re.compile(r"/devtools/(browser|page)/|^/playwright(/|$)")
"""WebSocket paths that drive a browser: the Chrome DevTools Protocol and Playwright's."""
_BROWSER_SERVICES = re.compile(
    r"(^|\.)(browserless\.io|browserbase\.com|steel\.dev|hyperbrowser\.ai|anchorbrowser\.io"
    r"|lambdatest\.com|browserstack\.com|saucelabs\.com|superproxy\.io|playwright\.microsoft\.com"
    r"|browser-use\.com)$"
)
"""Domains of services with remote browsers."""
_NEW_SESSION = re.compile(r"(^|/)session$")
"""WebDriver's New Session command (W3C WebDriver §8.1), with any prefix."""


_LONGEST_ANSWER = 16_000
"""Characters of an answer in which an action is looked for while the proxy serves."""
_MOST_ANSWERS = 100
"""Answers in which one is looked for; those of an agent are alike."""


class TrafficSummary(TypedDict):
    """The summary as plain data that is sent between processes."""

    hosts: dict[str, int]
    browser: bool
    exchanges: int
    llm_calls: int
    llm_unread: int
    llm_unread_first: str
    answers: int
    acts: bool
    armed: bool
    tasks: int
    unattributed: int
    delivered: int
    missed: int


class TrafficCounter(Struct):
    """Counts the events of one trial."""

    notices: Callable[[str], None] = lambda sentence: None
    """Called with a notice about a remote browser."""
    hosts: Counter[str] = field(default_factory=Counter)
    """Exchanges and connections for each host, without a browser's background traffic."""
    browser: bool = False
    """Whether a browser has requested anything but its background traffic."""
    llm_calls: int = 0
    llm_unread: int = 0
    llm_unread_first: str = ""
    """The URL of the first unread call, and why it could not be read."""
    answers: int = 0
    """Complete answers of the model in which an action was looked for: the first ones."""
    acts: bool = False
    """Whether any answer holds an action that can be read."""
    armed: bool = False
    tasks: int = 0
    unattributed: int = 0
    """Exchanges that belong to no task."""

    def add(self, event: Event) -> None:
        """Count an event."""
        match event:
            case RequestSeen():
                self._request(event)
            case Tunnel() if event.why != "background":
                self.hosts[event.host] += 1
            case SiteUnreachable(host=host, exchange=None) if host not in BACKGROUND_HOSTS:
                self.hosts[host] += 1
            case LlmCall():
                self.llm_calls += 1
                is_answered = event.complete and event.error is None
                if is_answered and not self.acts and self.answers < _MOST_ANSWERS:
                    self.answers += 1
                    self.acts = _acts(event)
            case AgentAction():
                self.acts = True
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
        if is_background(event.url) and _is_by_browser(event):
            return  # Background traffic does not show that pages use the proxy.
        host = _host(event.url)
        self.hosts[host] += 1
        self.browser = self.browser or _is_by_browser(event)
        could_drive = event.resource == "websocket" or event.method == "POST"
        if could_drive and (driven := _remote_browser(event, host)) is not None:
            self.notices(
                f"{driven} at {host} drives a browser that runs there: its pages do not"
                " come through WAREX, only the commands to it do"
            )


def _acts(call: LlmCall) -> bool:
    # Imported here, so that a first answer does not wait for it.
    from warex.llm.actions.guess import guess_actions, recorded_calls

    calls = recorded_calls(call.tool_calls)
    size = len(call.answer) + sum(len(each.arguments) for each in calls)
    return size <= _LONGEST_ANSWER and bool(guess_actions(call.answer, calls))


def user_agent(event: RequestSeen) -> str:
    """Return the User-Agent of a request; empty if it has none."""
    for name, value in event.headers:
        if name.lower() == "user-agent":
            return value
    return ""


def _is_by_browser(event: RequestSeen) -> bool:
    return user_agent(event).startswith(BROWSER)


@cached_if_short(maxsize=1024)
def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _remote_browser(event: RequestSeen, host: str) -> str | None:
    """Return how this request drives a browser on another machine; None if it does not."""
    if _is_loopback(host):
        return None
    path = urlsplit(event.url).path
    is_remote = _CDP_PATH.search(path) or _BROWSER_SERVICES.search(host)
    if event.resource == "websocket" and is_remote:
        return "a WebSocket"
    if event.method == "POST" and _NEW_SESSION.search(path) and _speaks_webdriver(event):
        return "a WebDriver session"
    return None


def _speaks_webdriver(event: RequestSeen) -> bool:
    """Whether the request is JSON and not of a browser: a site's login may also be /session."""
    return not user_agent(event).startswith("Mozilla/") and any(
        name.lower() == "content-type" and value.startswith("application/json")
        for name, value in event.headers
    )


def _is_loopback(host: str) -> bool:
    address = parse_ip(host)
    if address is not None:
        return address.is_loopback
    return host == "localhost" or host.endswith(".localhost")
