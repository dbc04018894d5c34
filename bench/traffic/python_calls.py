"""The Python calls that a lane makes for one request, counted by ``sys.setprofile``."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import warex
from bench.traffic import load
from bench.traffic.counted_lanes import check_recorded
from bench.traffic.measured_lanes import LOADED, warex_config
from bench.traffic.programs import Program, program, site
from bench.workspace import Workspace
from warex.proxy.own_engine import run_lane
from warex.traces import EVENTS

_OURS = str(Path(warex.__file__).parent)


@dataclass(frozen=True, slots=True)
class CallCount:
    """The calls of one request, by file and function; a generator is called for each value."""

    functions: dict[tuple[str, str], float]

    @property
    def total(self) -> float:
        """All calls, those of the standard library included."""
        return sum(self.functions.values())

    @property
    def files(self) -> dict[str, float]:
        """The calls in each of WAREX's own files, by its path in the package."""
        calls: Counter[str] = Counter()
        for (file, _), number in self.functions.items():
            if file.startswith(_OURS):
                calls[str(Path(file).relative_to(_OURS))] += number  # type: ignore[assignment]
        return dict(calls)


def count_calls(workspace: Workspace) -> CallCount:
    """Count the calls of a kept-alive HTTPS request through a traced lane with a scenario.

    Raises Unrecorded if a request is missing in the trace.
    """
    with (
        site("bench.traffic.quick_site", *workspace.tls) as port,
        program("bench.traffic.load") as client,
    ):
        return asyncio.run(_count(workspace, client, port))


async def _count(workspace: Workspace, client: Program, port: int) -> CallCount:
    config = warex_config(workspace, LOADED)
    assert config.out is not None
    async with run_lane(config) as lane:
        await asyncio.to_thread(client.ask, f"connect lane {lane.port} {port} 1")
        known = await asyncio.to_thread(load.turn, client, "lane", 0.2)
        with _counted() as calls:
            counted = await asyncio.to_thread(load.turn, client, "lane", 0.3)
    answers = Counter({load.url(port): known.answers + counted.answers})
    check_recorded(answers, config.out / EVENTS)
    return CallCount({where: number / counted.answers for where, number in calls.items()})


@contextmanager
def _counted() -> Iterator[Counter[tuple[str, str]]]:
    """Count the Python calls of this thread."""
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            code = frame.f_code
            calls[code.co_filename, code.co_qualname] += 1

    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(None)
