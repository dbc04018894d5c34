"""What a limit of bytes a second costs a lane, and how exactly it is held.

A body is sent by the engine's own code to a client without a socket. For its cost the event loop's
time passes at once: what a core takes to wake up is the machine's, and of no code.
"""

import asyncio
import selectors
import time
from typing import override

from bench.row import Row
from bench.workspace import Workspace
from warex.clock import Clock
from warex.engine.exchange_record import ExchangeRecord
from warex.engine.handler import Pace
from warex.engine.http.byte_rate import ByteRate
from warex.engine.sending.paced_body import PacedBody

_PIECES = 20_000
_RATES = (10_000, 100_000, 1_000_000, 10_000_000)


class _Client:
    """A client that takes everything at once: its own HTTP connection and its own end."""

    is_full = False

    def __init__(self) -> None:
        self.http = self.end = self

    def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Take a part of a body."""

    def queued(self, stream: int) -> int:
        """Return 0: nothing waits."""
        return 0

    def flush(self) -> None:
        """Do nothing: nothing waits."""


class _AtOnce(selectors.SelectSelector):
    """Has time pass instead of waiting."""

    now = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += max(0.0, timeout or 0.0)
        return []


def measure(workspace: Workspace) -> list[Row]:
    """Send a body at each rate."""
    seconds = 0.2 if workspace.quick else 4
    costs = [_cost(rate, 200 if workspace.quick else _PIECES) for rate in _RATES]
    errors = [
        abs(asyncio.run(_measured_seconds(rate, seconds)) / seconds - 1) * 100 for rate in _RATES
    ]
    rates = ", ".join(f"{rate / 1000:,.0f} kB/s" for rate in _RATES)
    return [
        Row(
            "pace",
            "a limited body: processor time of a piece, but for the event loop's timer",
            max(costs),
            "µs",
            10,
            at_least=False,
            detail=f"at {rates}: " + ", ".join(f"{cost:.1f} µs" for cost in costs),
        ),
        Row(
            "pace-rate",
            "the same: how far its rate is off",
            max(errors),
            "%",
            5,
            at_least=False,
            detail=f"at {rates}: " + ", ".join(f"{error:.2f} %" for error in errors),
        ),
    ]


def _cost(rate: int, pieces: int) -> float:
    """Return the microseconds of processor of a piece, without those of its timer."""
    selector = _AtOnce()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now  # type: ignore[method-assign]
    clock, size = Clock(lambda: selector.now), ByteRate(rate).piece * 100
    used = [0.0, 0.0]
    for _ in range(pieces // 100):
        for number, work in enumerate((_body(rate, clock).send(bytes(size)), _timers(100))):
            began = time.process_time()
            loop.run_until_complete(work)
            used[number] += time.process_time() - began
    loop.close()
    return (used[0] - used[1]) / pieces * 1e6


async def _timers(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0.01)


async def _measured_seconds(rate: int, seconds: float) -> float:
    """Return the seconds for what should take as many."""
    began = time.monotonic()
    await _body(rate, Clock()).send(bytes(int(rate * seconds)))
    return time.monotonic() - began


def _body(rate: int, clock: Clock) -> PacedBody:
    client = _Client()
    record = ExchangeRecord(clock, clock.wall())
    pace = Pace((ByteRate(rate),))
    return PacedBody(client, 1, record, pace, lambda stop: None, lambda how: None)  # type: ignore[arg-type]
