"""python -m bench soak: many mixed requests through one lane; does all add up, and stay small?"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from bench.processes import descriptors, resident
from bench.soak import accounting, jobs
from bench.soak.clients import Book, Way, http1, websocket
from bench.soak.http2 import http2
from bench.soak.jobs import Session
from bench.soak.site import Site, served
from bench.traffic.measured_lanes import warex_config
from bench.workspace import Setting, setting
from warex.proxy.config import ProxyConfig
from warex.proxy.process.client import Proxy, start_proxy
from warex.traces import EVENTS, iter_trace

MOST_GROWTH = 10_000_000
"""Bytes of resident memory that a warm lane may gain over 100,000 requests."""
UNEVEN = 2_000_000
"""Bytes that a soak of any length may show: a heap grows by pieces, not by requests."""
WARM_UP = 6_000
"""Requests that come first and fill a lane's caches."""
_ROUNDS = 20
_AT_ONCE = 16
"""Sessions that are open at a time."""
_QUIET_SECONDS = 20.0
"""How long a lane may take to close what nobody uses any more."""
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Sample:
    """A lane between two rounds, when no client is connected."""

    requests: int
    """Since it was warm."""
    memory: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class Soaked:
    """A soak that is over."""

    book: Book
    site: Site
    samples: Sequence[Sample]
    seconds: float
    broken: str | None
    trace: Path


def main(arguments: Sequence[str]) -> int:
    """Soak a lane and say what was found; return 1 unless it is clean."""
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument(
        "--requests",
        type=int,
        default=100_000,
        metavar="N",
        help=f"how many, after {WARM_UP:,} that warm the lane up",
    )
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    if asked.requests < _ROUNDS:
        parser.error(f"--requests {asked.requests}: {_ROUNDS} are the least")
    with setting(quick=True) as place:
        soaked = soak(place, asked.requests, asked.seed)
        wrong = told(soaked, asked.requests, asked.seed, print)
    print(f"\n{len(wrong)} things are wrong." if wrong else "\nClean.")
    return 1 if wrong else 0


def soak(place: Setting, requests: int, seed: int) -> Soaked:
    """Send so many requests and messages through a lane."""
    config = warex_config(place, jobs.scenario()).model_copy(update={"seed": seed})
    began = time.monotonic()
    with start_proxy(place.forkserver, config) as proxy:
        book, site, samples = asyncio.run(_rounds(place, proxy, requests, seed))
    seconds = time.monotonic() - began
    return Soaked(book, site, samples, seconds, proxy.broken, _trace(config))


def _trace(config: ProxyConfig) -> Path:
    if config.out is None:
        raise ValueError("a soak needs a trace")
    return config.out / EVENTS


async def _rounds(
    place: Setting, proxy: Proxy, requests: int, seed: int
) -> tuple[Book, Site, list[Sample]]:
    book, samples = Book(), list[Sample]()
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(served(*place.tls))
        way = Way(proxy.port, site.port, site.websocket_port, place.ca.certificate)
        idle = descriptors(proxy.pid)
        with _progress() as show:
            ends = [WARM_UP + requests * turn // _ROUNDS for turn in range(_ROUNDS + 1)]
            for first, last in pairwise([0, *ends]):
                await _round(way, book, list(jobs.sessions(seed, first, last - first)))
                await _quiet(proxy.pid, site, samples[-1].descriptors if samples else idle)
                memory = resident(proxy.pid, "VmRSS")
                samples.append(Sample(last - WARM_UP, memory, descriptors(proxy.pid)))
                show(f"{last:,} of {ends[-1]:,} requests, {memory / 1e6:.0f} MB")
                if proxy.broken:
                    break
    return book, site, samples


async def _round(way: Way, book: Book, sessions: list[Session]) -> None:
    left = iter(sessions)
    clients: dict[str, Callable[[Way, Session, Book], Awaitable[None]]] = {
        "http/1.1": http1,
        "h2": http2,
        "websocket": websocket,
    }

    async def client() -> None:
        for session in left:
            try:
                await clients[session.protocol](way, session, book)
            except (OSError, EOFError, TimeoutError) as error:
                book.mistakes.append(f"session {session.number}: {type(error).__name__}: {error}")

    async with asyncio.TaskGroup() as group:
        for _ in range(_AT_ONCE):
            group.create_task(client())


async def _quiet(pid: int, site: Site, before: int) -> None:
    """Wait until the lane has closed what it opened for its clients, as far as it ever does."""
    until = time.monotonic() + _QUIET_SECONDS
    while (site.open or descriptors(pid) > before) and time.monotonic() < until:
        await asyncio.sleep(0.05)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    console = Console(stderr=True)
    with console.status("soaking") as status:
        yield lambda text: status.update(text)


def told(soaked: Soaked, requests: int, seed: int, say: Callable[[str], None]) -> list[str]:
    """Say how it went; return what is wrong, a sentence each."""
    ledger = accounting.added_up(iter_trace(soaked.trace))
    wrong = list(accounting.mistakes(ledger, soaked.book, soaked.site.seen, soaked.site.messages))
    if soaked.broken:
        wrong.insert(0, f"the trial is void: {soaked.broken}")
    fates = [fate for each in soaked.book.fates.values() for fate in each]
    say(
        f"{len(fates):,} requests and {sum(soaked.book.sent.values()):,} WebSocket messages in"
        f" {soaked.seconds:.0f} s, seed {seed}"
    )
    say(
        "clients: "
        + ", ".join(f"{name} {fates.count(name):,}" for name in dict.fromkeys(fates))
        + f"; the site was asked {soaked.site.seen.total():,} times"
    )
    say(
        f"ledger: {len(ledger.exchanges):,} exchanges; planned {ledger.injections.total():,} ="
        f" delivered {ledger.delivered:,} + missed {ledger.missed:,}"
    )
    wrong += grown(soaked.samples, requests, say)
    for chance in accounting.chances(ledger):
        say(
            f"rule {chance.rule}: {chance.fired:,} of {chance.matched:,}, probability"
            f" {chance.probability}, p = {chance.p:.3f}"
        )
        if not chance.ok:
            wrong.append(
                f"rule {chance.rule} fired {chance.fired} times of {chance.matched}, with"
                f" probability {chance.probability}: p = {chance.p:.2g}, below"
                f" {accounting.LEVEL} / {len(jobs.PROBABILITIES)}"
            )
    for sentence in wrong[:_SHOWN]:
        say(f"wrong: {sentence}")
    if len(wrong) > _SHOWN:
        say(f"… and {len(wrong) - _SHOWN} more")
    return wrong


def grown(samples: Sequence[Sample], requests: int, say: Callable[[str], None]) -> list[str]:
    """Say how memory and descriptors went between rounds; return what is wrong with it."""
    if len(samples) < 2 or samples[-1].requests < requests:
        return ["the soak ended before all was sent"]
    warm, last = samples[0], samples[-1]
    growth = last.memory - warm.memory
    allowed = max(MOST_GROWTH * requests / 100_000, UNEVEN)
    say(
        f"memory: {warm.memory / 1e6:.1f} MB once warm, {last.memory / 1e6:.1f} MB"
        f" {last.requests:,} requests later ({growth / last.requests:,.0f} bytes each;"
        f" {allowed / 1e6:.1f} MB more are allowed); descriptors {warm.descriptors} and"
        f" {last.descriptors}"
    )
    say("MB after each round: " + " ".join(f"{it.memory / 1e6:.1f}" for it in samples))
    wrong = []
    if growth > allowed:
        wrong.append(f"memory grew by {growth / 1e6:.1f} MB; {allowed / 1e6:.1f} MB are allowed")
    if (lost := last.descriptors - samples[0].descriptors) > 0:
        wrong.append(f"{lost} descriptors were lost")
    return wrong
