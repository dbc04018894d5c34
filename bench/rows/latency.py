"""How much longer an agent takes for a task behind the proxy than without it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import override

from pydantic import JsonValue

from bench.campaigns import run_timed
from bench.row import Row
from bench.rows.added_latency import Added, added
from bench.workspace import Workspace
from warex.analysis.stats.clustered import TaskId
from warex.analysis.stats.means import mean_interval, ratio_interval
from warex.benchmarks import TaskEnvironment
from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import plan
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import (
    CLEAN,
    EVENTS,
    NO_PROXY,
    Counted,
    LlmCall,
    RequestSeen,
    TrialKey,
    attempt_dir,
    read_outcome,
    read_trace,
)

THINK = 2.0
"""Assumed seconds of a model per step; the scripted model answers at once."""
_LEAST = 40
_SEED = 1


@dataclass(frozen=True, slots=True)
class _Pair:
    """One task, through a clean lane and without a proxy."""

    task: TaskId
    clean: float
    """Seconds from the start of the agent's command to its end."""
    bare: float
    """The same without a proxy."""
    pages: int
    """Number of documents loaded."""
    calls: Sequence[JsonValue]
    """The messages of each model call, one per step."""

    @property
    def added(self) -> float:
        return self.clean - self.bare

    @property
    def with_thinking(self) -> float:
        """Seconds without a proxy, plus the assumed time of the model."""
        return self.bare + THINK * len(self.calls)


def measure(workspace: Workspace) -> list[Row]:
    """Run a sample of the testbed's tasks through a clean lane and without a proxy, in turns.

    In one lane, so that no trial slows another; the campaign's plan balances which condition comes
    first.
    """
    tasks = 2 if workspace.quick else 48
    if not workspace.quick:
        _pairs(workspace, 1)  # Warms the machine up.
    pairs = _pairs(workspace, tasks)
    if len(pairs) < (least := 1 if workspace.quick else _LEAST):
        raise RuntimeError(f"of {tasks} pairs {len(pairs)} can be compared; {least} are the least")
    each = added(workspace, [call for pair in pairs for call in pair.calls])
    longer = [(pair.task, pair.added) for pair in pairs]
    base = [(pair.task, pair.with_thinking) for pair in pairs]
    percent = 100 * sum(more for _, more in longer) / sum(seconds for _, seconds in base)
    return [
        Row(
            "proxy-latency",
            f"an agent's time for a task behind a clean lane, a model that thinks {THINK:g} s a"
            " step: how much longer than without a proxy",
            percent,
            "%",
            3,
            at_least=False,
            detail=_details(pairs, each, ratio_interval(longer, base), mean_interval(longer)),
        )
    ]


class TlsTestbed(TestbedBenchmark):
    """The testbed over TLS behind the proxy as well, as it is without one.

    Otherwise the proxy would ask the testbed without TLS, which is faster.
    """

    @override
    @contextmanager
    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> Iterator[TaskEnvironment]:
        with super().start_environment(task, folder, ca, direct=True) as environment:
            ports = environment.direct_hosts.items()
            maps = tuple(f"https://{host}=https://127.0.0.1:{port}" for host, port in ports)
            yield replace(environment, maps=maps)


def _details(
    pairs: Sequence[_Pair],
    each: Added,
    share: tuple[float, float] | None,
    seconds: tuple[float, float] | None,
) -> str:
    more, bare = fmean(pair.added for pair in pairs), fmean(pair.bare for pair in pairs)
    pages = fmean(pair.pages for pair in pairs)
    calls = fmean(len(pair.calls) for pair in pairs)
    rest = more * 1000 - each.first_page - (pages - 1) * each.page - calls * each.call
    return (
        f"95 % interval {_describe_interval(share, 100)} %; {len(pairs)} pairs; measured without"
        f" a proxy {bare:.2f} s, {calls:.1f} steps;"
        f" added {more * 1000:.0f} ms {_describe_interval(seconds, 1000)}, which are"
        f" {100 * more / bare:.1f} % without any thinking; {each.page:.1f} ms a page (of"
        f" {each.direct_page:.0f} ms), {each.first_page:.1f} ms a site's first; {each.call:.1f} ms"
        f" a model call (of {each.direct_call:.1f} ms); {pages:.1f} pages and {calls:.1f} calls a"
        f" trial leave {rest:.0f} ms for all else"
    )


def _describe_interval(interval: tuple[float, float] | None, times: float) -> str:
    if interval is None:
        return "unknown"
    low, high = (f"{end * times:.{0 if times > 100 else 2}f}" for end in interval)
    return f"[{low}, {high}]"


def _pairs(workspace: Workspace, tasks: int) -> list[_Pair]:
    config = CampaignConfig.model_validate(
        {
            "name": "latency",
            "benchmark": "testbed",
            "tasks": {"sample": tasks},
            "seed": _SEED,
            "agents": [{"name": "patient", "model": "scripted:patient"}],
            "conditions": [{"name": NO_PROXY}, {"name": CLEAN}],
            "traffic": {"insecure": True},
        }
    )
    planned = plan(config)
    same = replace(planned, benchmark=TlsTestbed(config.benchmark))
    run = run_timed(workspace, same, RunOptions(jobs=1)).run
    bare, clean = (
        sorted(spec.key for spec in planned.trials if spec.key.condition == name)
        for name in (NO_PROXY, CLEAN)
    )
    pairs = (_pair(run, *sides) for sides in zip(bare, clean, strict=True))
    return [pair for pair in pairs if pair is not None]


def _pair(run: Path, bare: TrialKey, clean: TrialKey) -> _Pair | None:
    """Read a pair; None if a first attempt does not count or the numbers of steps differ.

    Different steps take different times, whatever the proxy adds.
    """
    folders = [attempt_dir(run, key, 1) for key in (bare, clean)]
    sides = [read_outcome(folder) for folder in folders]
    latencies = [side.latency_s for side in sides if isinstance(side, Counted)]
    if len(latencies) < len(sides):
        return None
    steps = {json.loads((folder / "result.json").read_text())["steps"] for folder in folders}
    trace = read_trace(folders[1] / EVENTS)
    calls = [call.messages for call in trace.events(LlmCall)]
    if steps != {len(calls)}:
        return None
    return _Pair(
        task=(bare.benchmark, bare.task),
        bare=latencies[0],
        clean=latencies[1],
        pages=sum(it.top_level and it.resource == "document" for it in trace.events(RequestSeen)),
        calls=calls,
    )
