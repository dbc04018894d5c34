"""Lanes whose trace must contain every request that a benchmark counts.

After a client refuses the CA with a TLS alert, its host is passed through unread, which is fast and
measures nothing. So a benchmark reports its requests to the lane, which compares them with its
trace in the end.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.workspace import Workspace
from warex.lane.config import ProxyConfig
from warex.proxy.process.client import Proxy, start_proxy
from warex.traces import EVENTS, LlmCall, RequestSeen, ResponseSeen, TlsRejected, Tunnel, iter_trace


class Unrecorded(RuntimeError):
    """The trace lacks a request that the benchmark counted, so its row is invalid."""


class Lane:
    """A running lane, and the answers that its clients received through it."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy, self.port, self.pid = proxy, proxy.port, proxy.pid
        self._answered: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._passed = 0

    def count_requests(self, *urls: str, times: int = 1) -> None:
        """Count requests that the site answered through this lane, each ``times`` times."""
        for url in urls:
            self._answered[url] += times

    def count_calls(self, answer: str, times: int = 1) -> None:
        """Count model calls that were completely answered with this text."""
        self._calls[answer] += times

    def count_passed(self, size: int) -> None:
        """Count bytes of answers that came through connections which are passed through."""
        self._passed += size

    def check(self, trace: Path) -> None:
        """Raise Unrecorded if the trace lacks counted requests, or if none were counted."""
        if not (self._answered or self._passed):
            raise Unrecorded("no requests were counted")
        if (passed := _passed(trace)) < self._passed:
            raise Unrecorded(f"{self._passed:,} bytes passed through, the trace has {passed:,}")
        check_recorded(self._answered, trace)
        if missing := self._calls - _calls(trace):
            answer, times = missing.most_common(1)[0]
            raise Unrecorded(
                f"of {self._calls.total():,} calls to a model {missing.total():,} are not in the"
                f" trace as they were answered; {times:,} with {answer[:40]!r}"
            )


def check_recorded(answered: Counter[str], trace: Path) -> None:
    """Raise Unrecorded unless a trace contains these requests, answered by the site.

    ``answered``: the number of requests by URL.
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
        raise Unrecorded(
            f"of {answered.total():,} requests that were counted {missing.total():,} are missing"
            f" in {trace.name}, {url} {times:,} times{why}"
        )


def _passed(trace: Path) -> int:
    """Return how many bytes came through connections that were passed through."""
    events = (entry.event for entry in iter_trace(trace))
    return sum(event.received for event in events if isinstance(event, Tunnel))


def _calls(trace: Path) -> Counter[str]:
    """Return the numbers of complete model answers in a trace, by their text."""
    events = (entry.event for entry in iter_trace(trace))
    return Counter(
        event.answer for event in events if isinstance(event, LlmCall) and event.complete
    )


@contextmanager
def counting_lane(workspace: Workspace, config: ProxyConfig) -> Iterator[Lane]:
    """Run a lane, on which the benchmark counts the answered requests.

    Raises RuntimeError if its trial is void, and Unrecorded if the trace lacks counted requests.
    """
    if config.out is None:
        raise ValueError("a counting lane needs a trace")
    with start_proxy(workspace.forkserver, config) as proxy:
        lane = Lane(proxy)
        yield lane
    if proxy.broken:
        raise RuntimeError(f"the lane broke: {proxy.broken}")
    lane.check(config.out / EVENTS)
