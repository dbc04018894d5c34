"""Check that a lane survived a number of cases, and find the cases that it did not."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.fuzz.cases import SITE_STATUS, Case, Channel, case, valid_case
from bench.fuzz.wire import Received, run_case, serve_site
from bench.traffic.measured_lanes import warex_config
from bench.workspace import Workspace
from warex.proxy.process.client import Proxy, start_proxy
from warex.traces import (
    EVENTS,
    HarnessBroke,
    RequestRefused,
    ResponseSeen,
    SiteUnreachable,
    TlsRejected,
    TrialEnded,
    iter_trace,
)

_CONCURRENCY = 8
_ANSWER_SECONDS = 30.0
"""Seconds to wait for an answer before a lane counts as dead."""
_CASES_PER_LANE = 100


@dataclass(frozen=True, slots=True)
class Failure:
    """The smallest set of cases that make a lane fail, and the errors."""

    numbers: tuple[int, ...]
    why: tuple[str, ...]


def failures(
    workspace: Workspace, seed: int, numbers: Sequence[int], most: int
) -> Iterator[Failure]:
    """Run cases, a hundred per lane; yield up to ``most`` failures, each bisected."""
    left = most
    for first in range(0, len(numbers), _CASES_PER_LANE):
        for failure in _bisect(workspace, seed, numbers[first : first + _CASES_PER_LANE]):
            yield failure
            left -= 1
            if not left:
                return


def _bisect(workspace: Workspace, seed: int, numbers: Sequence[int]) -> Iterator[Failure]:
    """Yield the failures among cases; each half runs on its own lane."""
    why = find_errors(workspace, seed, numbers)
    if not why:
        return
    if len(numbers) == 1:
        yield Failure(tuple(numbers), tuple(why))
        return
    fails = False
    middle = len(numbers) // 2
    for half in (numbers[:middle], numbers[middle:]):
        for failure in _bisect(workspace, seed, half):
            fails = True
            yield failure
    if not fails:  # It needs several of the cases, or is not deterministic.
        yield Failure(tuple(numbers), tuple(why))


def find_errors(workspace: Workspace, seed: int, numbers: Sequence[int]) -> list[str]:
    """Run cases on one lane; return the errors as sentences."""
    config = warex_config(workspace)
    with start_proxy(workspace.forkserver, config) as proxy:
        received, answers = asyncio.run(
            _run_cases(workspace, seed, [case(seed, it) for it in numbers], proxy)
        )
    wrong = [f"the lane does not answer any more: {channel}" for channel in answers]
    if proxy.broken:
        wrong.append(f"the trial is void: {proxy.broken}")
    if config.out is None:
        raise ValueError("a lane without a trace cannot be checked")
    return [*wrong, *disagreements(received, config.out / EVENTS)]


async def _run_cases(
    workspace: Workspace, seed: int, cases: Sequence[Case], proxy: Proxy
) -> tuple[list[Received], list[str]]:
    """Return what the clients received, and the protocols over which the lane no longer answers."""
    received: list[Received] = []
    left = iter(cases)

    async def worker() -> None:
        async with serve_site(seed, *workspace.tls) as site:
            for each in left:
                received.append(await run_case(each, site, proxy, workspace.ca.certificate, seed))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(_CONCURRENCY, len(cases))):
            group.create_task(worker())
    async with serve_site(seed, *workspace.tls) as site:
        unresponsive: list[str] = []
        channels: tuple[Channel, ...] = ("http/1.1", "h2")
        for channel in channels:
            result = await run_case(
                valid_case(channel), site, proxy, workspace.ca.certificate, seed, _ANSWER_SECONDS
            )
            received.append(result)
            if result.statuses != [SITE_STATUS]:
                unresponsive.append(channel)
    return received, unresponsive


def _is_passed_through(received: Received) -> bool:
    """Whether an invalid answer came unchanged; the trace may read another status in it."""
    return not received.case.valid_answer and received.data.split(b"\n")[0] in received.case.answer


def disagreements(received: Sequence[Received], trace: Path) -> Iterator[str]:
    """Yield the differences between the clients' answers and the trace, and forbidden answers."""
    recorded: Counter[int | None] = Counter()
    from_site: Counter[int | None] = Counter()
    """The statuses that the trace attributes to the site."""
    ended = False
    unread = ""
    for entry in iter_trace(trace):
        match entry.event:
            case ResponseSeen(status=status, by=by):
                recorded[status] += 1
                if by == "site":
                    from_site[status] += 1
            case RequestRefused(status=status):
                recorded[status] += 1
            case SiteUnreachable(exchange=None, failure=failure):  # Of a CONNECT.
                recorded[504 if failure.endswith("timeout") else 502] += 1
            case HarnessBroke(reason=reason):
                yield f"the trace says that the trial is void: {reason}"
            case TrialEnded():
                ended = True
            case TlsRejected(host=host, reason=reason):
                unread = f"; {host} was passed through, since a client refused TLS: {reason}"
            case _:
                pass
    if not ended:
        yield "the trace has no end"
    for each in received:
        for text in each.unreadable:
            yield f"case {each.case.number}: the answer's status is {text!r}"
        if b"warex" in each.data.lower():
            yield f"case {each.case.number}: the answer names WAREX"
    # Neither an open tunnel nor a request to the control port is an exchange.
    answers = [
        (each, status)
        for each in received
        for status in each.statuses
        if each.case.channel != "control" and (each.case.family, status) != ("connect", 200)
    ]
    if len(answers) > recorded.total():
        yield f"{len(answers)} answers were received, the trace has {recorded.total()}{unread}"
    counts = Counter(status for each, status in answers if not _is_passed_through(each))
    for status, times in counts.items():
        if times > recorded[status]:
            yield f"{times} answers {status} were received, the trace has {recorded[status]}"
    if all(each.case.valid_answer for each in received):
        for status in from_site.keys() - {SITE_STATUS}:
            yield f"the trace attributes a {status} to the site, which sent none"
