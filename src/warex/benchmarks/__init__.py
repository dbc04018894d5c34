"""Benchmark adapters: list tasks, run one, read its result.

One file per benchmark. To add one: write its file, its example, its test, one line in
docs/reference/benchmarks.md, and name it below. Other distributions add adapters by entry points of
the group ``warex.benchmarks``.
"""

from typing import Final

from warex.benchmarks.adapters.agentlab import AgentLabBenchmark
from warex.benchmarks.adapters.browser_use import BrowserUseBenchmark
from warex.benchmarks.adapters.real import RealBenchmark
from warex.benchmarks.adapters.step import StepBenchmark
from warex.benchmarks.adapters.testbed import TestbedBenchmark
from warex.benchmarks.adapters.webarena import WebArenaBenchmark
from warex.benchmarks.adapters.webarena_infinity import InfinityBenchmark
from warex.benchmarks.adapters.webvoyager import WebVoyagerBenchmark
from warex.benchmarks.base import Benchmark
from warex.benchmarks.command.adapter import CommandBenchmark
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError
from warex.plugins import PluginGroup, subclass_of
from warex.scenarios.mistakes import unknown_name
from warex.traces.paths import AGENT_LOG

BENCHMARKS: tuple[type[Benchmark], ...] = (
    TestbedBenchmark,
    CommandBenchmark,
    AgentLabBenchmark,
    BrowserUseBenchmark,
    RealBenchmark,
    WebArenaBenchmark,
    StepBenchmark,
    WebVoyagerBenchmark,
    InfinityBenchmark,
)
"""The adapters of WAREX itself."""

__all__ = [
    "AGENT_LOG",
    "BENCHMARKS",
    "AgentSpec",
    "Benchmark",
    "BenchmarkConfig",
    "Command",
    "Job",
    "TaskEnvironment",
    "TaskResult",
    "benchmark_kind",
    "benchmark_of",
    "benchmarks",
]


def benchmark_kind(name: str) -> type[Benchmark]:
    """Return an adapter by its name.

    Raises CampaignError for an unknown one, MachineError if it is of another distribution and
    cannot be used.
    """
    kind = {kind.name: kind for kind in BENCHMARKS}.get(name) or _PLUGINS.load(name)
    if kind is None:
        known = [kind.name for kind in benchmarks()]
        raise CampaignError(unknown_name("there is no benchmark", name, known))
    return kind


def benchmarks() -> tuple[type[Benchmark], ...]:
    """Return every adapter, those of other distributions last.

    An adapter of another distribution that cannot be used is left out, with a warning.
    """
    return (*BENCHMARKS, *_PLUGINS.load_all())


def _accept(name: str, value: object) -> type[Benchmark]:
    """Return another distribution's adapter; raise ValueError if it is invalid."""
    kind = subclass_of(Benchmark, value)  # type: ignore[type-abstract]
    if (own_name := getattr(kind, "name", None)) != name:
        raise ValueError(f"has the name {own_name!r}, not {name!r}")
    return kind


_PLUGINS: Final = PluginGroup(
    "warex.benchmarks", lambda: [kind.name for kind in BENCHMARKS], _accept
)


def benchmark_of(table: BenchmarkConfig) -> Benchmark:
    """Return the benchmark of a campaign's table; raise CampaignError for an invalid table."""
    return benchmark_kind(table.name)(table)
