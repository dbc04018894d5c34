"""Lanes whose trace must hold every request that a benchmark counts.

A client that does not trust the CA sends an alert, its host is passed through unread from then on,
and all that follows is fast: nobody has looked at it. So a benchmark tells its lane what it counts,
and the lane looks into its trace in the end.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.workspace import Setting
from warex.proxy.config import ProxyConfig
from warex.proxy.process.client import Proxy, start_proxy
from warex.traces import EVENTS, LlmCall, RequestSeen, ResponseSeen, TlsRejected, iter_trace


class Uncounted(RuntimeError):
    """A request that a benchmark counts is missing in the trace: the row means nothing."""


class Lane:
    """A lane that runs, and what its clients were answered through it."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy, self.port, self.pid = proxy, proxy.port, proxy.pid
        self._answered: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()

    def answered(self, *urls: str, times: int = 1) -> None:
        """Count requests that the site has answered through this lane, each so many times."""
        for url in urls:
            self._answered[url] += times

    def called(self, answer: str, times: int = 1) -> None:
        """Count calls to a model whose answer the lane has read as this text, to its end."""
        self._calls[answer] += times

    def check(self, trace: Path) -> None:
        """Raise Uncounted unless the trace holds all that was counted, or if nothing was."""
        if not self._answered:
            raise Uncounted("nothing was counted that the lane's trace could hold")
        all_recorded(self._answered, trace)
        if missing := self._calls - _calls(trace):
            answer, times = missing.most_common(1)[0]
            raise Uncounted(
                f"of {self._calls.total():,} calls to a model {missing.total():,} are not in the"
                f" trace as they were answered; {times:,} with {answer[:40]!r}"
            )


def all_recorded(answered: Counter[str], trace: Path) -> None:
    """Raise Uncounted unless a trace holds each of these requests, answered by the site.

    ``answered`` has for each URL how many there were.
    """
    asked: dict[str, str] = {}
    recorded: Counter[str] = Counter()
    rejected = None
    for entry in iter_trace(trace):
        match entry.event:
            case RequestSeen(exchange=exchange, url=url):
                asked[exchange] = url
            case ResponseSeen(exchange=exchange, by="site"):
                recorded[asked.pop(exchange, "")] += 1
            case TlsRejected() as event:
                rejected = event
            case _:
                pass
    if missing := answered - recorded:
        url, times = missing.most_common(1)[0]
        why = (
            f"; a client refused the lane's certificate for {rejected.host} ({rejected.reason}),"
            " which was passed through unread from then on: have it trust the CA"
            if rejected
            else ""
        )
        raise Uncounted(
            f"of {answered.total():,} requests that were counted {missing.total():,} are missing"
            f" in {trace.name}, {url} {times:,} times{why}"
        )


def _calls(trace: Path) -> Counter[str]:
    """Return how many whole answers of models a trace holds, by what they say."""
    events = (entry.event for entry in iter_trace(trace))
    return Counter(
        event.answer for event in events if isinstance(event, LlmCall) and event.complete
    )


@contextmanager
def counting_lane(setting: Setting, config: ProxyConfig) -> Iterator[Lane]:
    """Run a lane; its client counts on it what was answered.

    Raises RuntimeError where its trial turned out void, since nothing then counts, and Uncounted
    where the trace lacks what was counted.
    """
    if config.out is None:
        raise ValueError("a lane without a trace cannot tell what came through it")
    with start_proxy(setting.forkserver, config) as proxy:
        lane = Lane(proxy)
        yield lane
    if proxy.broken:
        raise RuntimeError(f"the lane broke: {proxy.broken}")
    lane.check(config.out / EVENTS)
