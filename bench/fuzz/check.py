"""Whether a lane has borne a number of cases, and which of them it has not."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.fuzz.cases import SITE_STATUS, Case, Door, case, usual
from bench.fuzz.wire import Heard, served, tried
from bench.traffic.measured_lanes import warex_config
from bench.workspace import Setting
from warex.proxy.process.client import Proxy, start_proxy
from warex.traces import EVENTS, HarnessBroke, RequestRefused, ResponseSeen, TrialEnded, iter_trace

_AT_ONCE = 8
_PATIENCE = 30.0
"""Seconds for an answer without which a lane counts as dead."""
_TOGETHER = 100
"""Cases that one lane is given."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Cases that a lane did not bear, as few as it takes."""

    numbers: tuple[int, ...]
    why: tuple[str, ...]


def failures(place: Setting, seed: int, numbers: Sequence[int], most: int) -> Iterator[Failure]:
    """Try cases, a hundred to a lane; yield up to ``most`` failures, each narrowed down."""
    left = most
    for first in range(0, len(numbers), _TOGETHER):
        for failure in _narrowed(place, seed, numbers[first : first + _TOGETHER]):
            yield failure
            left -= 1
            if not left:
                return


def _narrowed(place: Setting, seed: int, numbers: Sequence[int]) -> Iterator[Failure]:
    """Yield the failures among cases; halves are tried on lanes of their own."""
    why = borne(place, seed, numbers)
    if not why:
        return
    if len(numbers) == 1:
        yield Failure(tuple(numbers), tuple(why))
        return
    found = False
    middle = len(numbers) // 2
    for half in (numbers[:middle], numbers[middle:]):
        for failure in _narrowed(place, seed, half):
            found = True
            yield failure
    if not found:  # It takes more than one of them, or chance.
        yield Failure(tuple(numbers), tuple(why))


def borne(place: Setting, seed: int, numbers: Sequence[int]) -> list[str]:
    """Try cases on one lane; return what is wrong, a sentence each."""
    config = warex_config(place)
    with start_proxy(place.forkserver, config) as proxy:
        heard, answers = asyncio.run(_tried(place, seed, [case(seed, it) for it in numbers], proxy))
    wrong = [f"the lane does not answer any more: {door}" for door in answers]
    if proxy.broken:
        wrong.append(f"the trial is void: {proxy.broken}")
    if config.out is None:
        raise ValueError("a lane without a trace cannot be checked")
    return [*wrong, *disagreements(heard, config.out / EVENTS)]


async def _tried(
    place: Setting, seed: int, cases: Sequence[Case], proxy: Proxy
) -> tuple[list[Heard], list[str]]:
    """Return what clients heard, and the protocols in which the lane answers no more."""
    heard: list[Heard] = []
    left = iter(cases)

    async def worker() -> None:
        async with served(seed, *place.tls) as site:
            for each in left:
                heard.append(await tried(each, site, proxy, place.ca.certificate, seed))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(_AT_ONCE, len(cases))):
            group.create_task(worker())
    async with served(seed, *place.tls) as site:
        silent: list[str] = []
        doors: tuple[Door, ...] = ("http/1.1", "h2")
        for door in doors:
            said = await tried(usual(door), site, proxy, place.ca.certificate, seed, _PATIENCE)
            heard.append(said)
            if said.statuses != [SITE_STATUS]:
                silent.append(door)
    return heard, silent


def _is_the_sites(heard: Heard) -> bool:
    """Whether an odd answer came as the site gave it, whatever the trace makes of its status."""
    return not heard.case.honest and heard.data.split(b"\n")[0] in heard.case.answer


def disagreements(heard: Sequence[Heard], trace: Path) -> Iterator[str]:
    """Yield what the clients heard and the trace does not have, or nobody should hear."""
    recorded: Counter[int | None] = Counter()
    invented: Counter[int | None] = Counter()
    """What the trace says that the site answered."""
    ended = False
    for entry in iter_trace(trace):
        match entry.event:
            case ResponseSeen(status=status, by=by):
                recorded[status] += 1
                if by == "site":
                    invented[status] += 1
            case RequestRefused(status=status):
                recorded[status] += 1
            case HarnessBroke(reason=reason):
                yield f"the trace says that the trial is void: {reason}"
            case TrialEnded():
                ended = True
            case _:
                pass
    if not ended:
        yield "the trace has no end"
    for each in heard:
        if b"mitmproxy" in each.data.lower():
            yield f"case {each.case.number}: the answer names mitmproxy"
    # A tunnel that stands is no exchange, and the control port is no site.
    heard_of = [
        (each, status)
        for each in heard
        for status in each.statuses
        if each.case.door != "control" and (each.case.family, status) != ("connect", 200)
    ]
    if len(heard_of) > recorded.total():
        yield f"{len(heard_of)} answers were given, the trace has {recorded.total()}"
    told = Counter(status for each, status in heard_of if not _is_the_sites(each))
    for status, times in told.items():
        if times > recorded[status]:
            yield f"{times} answers {status} were given, the trace has {recorded[status]}"
    if all(each.case.honest for each in heard):
        for status in invented.keys() - {SITE_STATUS}:
            yield f"the trace has a {status} of the site, which gave none"
