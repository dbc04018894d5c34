"""Benchmark adapters: list tasks, run one, read its result.

One file per benchmark. To add one: write its file, its example, its test, one line in
docs/reference/benchmarks.md, and name it below.
"""

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
]


def benchmark_kind(name: str) -> type[Benchmark]:
    """Return an adapter by its name; raise CampaignError for an unknown one."""
    known = {kind.name: kind for kind in BENCHMARKS}
    if name not in known:
        raise CampaignError(unknown_name("there is no benchmark", name, list(known)))
    return known[name]


def benchmark_of(table: BenchmarkConfig) -> Benchmark:
    """Return the benchmark of a campaign's table; raise CampaignError for an invalid table."""
    return benchmark_kind(table.name)(table)
