"""Adapters: which tasks a benchmark has, how to run one, how to read what came of it.

One file per benchmark. To add one: write its file, its test, one line in
docs/reference/benchmarks.md, and name it below.
"""

from warex.benchmarks.base import AGENT_LOG, AgentSpec, Benchmark, Result, Stage
from warex.benchmarks.testbed import TestbedBenchmark
from warex.errors import CampaignError

BENCHMARKS: tuple[type[Benchmark], ...] = (TestbedBenchmark,)

__all__ = [
    "AGENT_LOG",
    "BENCHMARKS",
    "AgentSpec",
    "Benchmark",
    "Result",
    "Stage",
    "benchmark_named",
]


def benchmark_named(name: str) -> Benchmark:
    """Return a benchmark by its name; raise CampaignError, naming what there is."""
    for kind in BENCHMARKS:
        if kind.name == name:
            return kind()
    known = ", ".join(kind.name for kind in BENCHMARKS)
    raise CampaignError(f"there is no benchmark {name!r}; there are: {known}")
