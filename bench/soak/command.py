"""python -m bench soak: send mixed requests through one lane; check its ledger and its memory."""

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
from bench.soak.clients import ClientLog, ProxyRoute, http1, websocket
from bench.soak.http2 import http2
from bench.soak.jobs import Session
from bench.soak.site import Site, serve_site
from bench.traffic.measured_lanes import warex_config
from bench.workspace import Workspace, open_workspace
from warex.lane.config import ProxyConfig
from warex.proxy.process.client import Proxy, start_proxy
from warex.traces import EVENTS, iter_trace

MAX_GROWTH = 10_000_000
"""Bytes by which a warm lane's resident memory may grow over 100,000 requests."""
GROWTH_TOLERANCE = 2_000_000
"""Bytes of growth that any soak may show, since a heap grows in steps."""
WARM_UP = 6_000
"""Initial requests, which fill a lane's caches."""
_ROUNDS = 20
_CONCURRENCY = 16
"""Concurrent sessions."""
_IDLE_SECONDS = 20.0
"""How long a lane may take to close unused connections."""
_MAX_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Sample:
    """A lane's resources between two rounds, while no client is connected."""

    requests: int
    """Requests after the warm-up."""
    memory: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class SoakResult:
    """The records of a finished soak."""

    log: ClientLog
    site: Site
    samples: Sequence[Sample]
    seconds: float
    broken: str | None
    trace: Path


def main(arguments: Sequence[str]) -> int:
    """Soak a lane and print the result; return 1 unless it is clean."""
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument(
        "--requests",
        type=int,
        default=100_000,
        metavar="N",
        help=f"number of requests after the {WARM_UP:,} of the warm-up",
    )
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    if asked.requests < _ROUNDS:
        parser.error(f"--requests {asked.requests}: {_ROUNDS} are the least")
    with open_workspace(quick=True) as workspace:
        result = soak(workspace, asked.requests, asked.seed)
        wrong = report(result, asked.requests, asked.seed, print)
    print(f"\n{len(wrong)} errors." if wrong else "\nClean.")
    return 1 if wrong else 0


def soak(workspace: Workspace, requests: int, seed: int) -> SoakResult:
    """Send requests and messages through a lane."""
    config = warex_config(workspace, jobs.scenario()).model_copy(update={"seed": seed})
    began = time.monotonic()
    with start_proxy(workspace.forkserver, config) as proxy:
        log, site, samples = asyncio.run(_rounds(workspace, proxy, requests, seed))
    seconds = time.monotonic() - began
    return SoakResult(log, site, samples, seconds, proxy.broken, _trace(config))


def _trace(config: ProxyConfig) -> Path:
    if config.out is None:
        raise ValueError("a soak needs a trace")
    return config.out / EVENTS


async def _rounds(
    workspace: Workspace, proxy: Proxy, requests: int, seed: int
) -> tuple[ClientLog, Site, list[Sample]]:
    log, samples = ClientLog(), list[Sample]()
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(serve_site(*workspace.tls))
        route = ProxyRoute(proxy.port, site.port, site.websocket_port, workspace.ca.certificate)
        idle = descriptors(proxy.pid)
        with _progress() as show:
            ends = [WARM_UP + requests * turn // _ROUNDS for turn in range(_ROUNDS + 1)]
            for first, last in pairwise([0, *ends]):
                await _round(route, log, list(jobs.sessions(seed, first, last - first)))
                await _wait_until_idle(
                    proxy.pid, site, samples[-1].descriptors if samples else idle
                )
                memory = resident(proxy.pid, "VmRSS")
                samples.append(Sample(last - WARM_UP, memory, descriptors(proxy.pid)))
                show(f"{last:,} of {ends[-1]:,} requests, {memory / 1e6:.0f} MB")
                if proxy.broken:
                    break
    return log, site, samples


async def _round(route: ProxyRoute, log: ClientLog, sessions: list[Session]) -> None:
    left = iter(sessions)
    clients: dict[str, Callable[[ProxyRoute, Session, ClientLog], Awaitable[None]]] = {
        "http/1.1": http1,
        "h2": http2,
        "websocket": websocket,
    }

    async def client() -> None:
        for session in left:
            try:
                await clients[session.protocol](route, session, log)
            except (OSError, EOFError, TimeoutError) as error:
                log.mistakes.append(f"session {session.number}: {type(error).__name__}: {error}")

    async with asyncio.TaskGroup() as group:
        for _ in range(_CONCURRENCY):
            group.create_task(client())


async def _wait_until_idle(pid: int, site: Site, before: int) -> None:
    """Wait until the lane has closed its clients' connections, or the time is over."""
    until = time.monotonic() + _IDLE_SECONDS
    while (site.open or descriptors(pid) > before) and time.monotonic() < until:
        await asyncio.sleep(0.05)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    console = Console(stderr=True)
    with console.status("soaking") as status:
        yield lambda text: status.update(text)


def report(
    result: SoakResult, requests: int, seed: int, print_line: Callable[[str], None]
) -> list[str]:
    """Print the result of a soak; return its errors as sentences."""
    ledger = accounting.read_ledger(iter_trace(result.trace))
    wrong = list(accounting.mistakes(ledger, result.log, result.site.seen, result.site.messages))
    if result.broken:
        wrong.insert(0, f"the trial is void: {result.broken}")
    outcomes = [outcome for each in result.log.outcomes.values() for outcome in each]
    print_line(
        f"{len(outcomes):,} requests and {sum(result.log.sent.values()):,} WebSocket messages in"
        f" {result.seconds:.0f} s, seed {seed}"
    )
    print_line(
        "clients: "
        + ", ".join(f"{name} {outcomes.count(name):,}" for name in dict.fromkeys(outcomes))
        + f"; the site was asked {result.site.seen.total():,} times"
    )
    print_line(
        f"ledger: {len(ledger.exchanges):,} exchanges; planned {ledger.injections.total():,} ="
        f" delivered {ledger.delivered:,} + missed {ledger.missed:,}"
    )
    wrong += check_growth(result.samples, requests, print_line)
    for rate in accounting.firing_rates(ledger):
        print_line(
            f"rule {rate.rule}: {rate.fired:,} of {rate.matched:,}, probability"
            f" {rate.probability}, p = {rate.p:.3f}"
        )
        if not rate.ok:
            wrong.append(
                f"rule {rate.rule} fired {rate.fired} times of {rate.matched}, with"
                f" probability {rate.probability}: p = {rate.p:.2g}, below"
                f" {accounting.LEVEL} / {len(jobs.PROBABILITIES)}"
            )
    for sentence in wrong[:_MAX_SHOWN]:
        print_line(f"wrong: {sentence}")
    if len(wrong) > _MAX_SHOWN:
        print_line(f"… and {len(wrong) - _MAX_SHOWN} more")
    return wrong


def check_growth(
    samples: Sequence[Sample], requests: int, print_line: Callable[[str], None]
) -> list[str]:
    """Print memory and descriptors between rounds; return errors as sentences."""
    if len(samples) < 2 or samples[-1].requests < requests:
        return ["the soak ended before all requests were sent"]
    warm, last = samples[0], samples[-1]
    growth = last.memory - warm.memory
    allowed = max(MAX_GROWTH * requests / 100_000, GROWTH_TOLERANCE)
    print_line(
        f"memory: {warm.memory / 1e6:.1f} MB once warm, {last.memory / 1e6:.1f} MB"
        f" {last.requests:,} requests later ({growth / last.requests:,.0f} bytes each;"
        f" {allowed / 1e6:.1f} MB more are allowed); descriptors {warm.descriptors} and"
        f" {last.descriptors}"
    )
    print_line("MB after each round: " + " ".join(f"{it.memory / 1e6:.1f}" for it in samples))
    wrong = []
    if growth > allowed:
        wrong.append(f"memory grew by {growth / 1e6:.1f} MB; {allowed / 1e6:.1f} MB are allowed")
    if (lost := last.descriptors - samples[0].descriptors) > 0:
        wrong.append(f"{lost} descriptors were lost")
    return wrong
