"""The share of its lanes' time that a campaign does not spend on attempts."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import override

from bench.campaigns import mean_agent_seconds, one_second_trials, run_timed
from bench.row import Row
from bench.workspace import Workspace
from warex.benchmarks import TaskEnvironment
from warex.benchmarks.command.adapter import CommandBenchmark
from warex.benchmarks.table import BenchmarkConfig
from warex.proxy.certificates.ca import CertificateAuthority

_LANES = 2


def measure(workspace: Workspace) -> list[Row]:
    """Run a campaign of one-second trials and add up the times of its attempts."""
    trials = 2 if workspace.quick else 100
    with one_second_trials(workspace, trials) as (planned, options):
        timed = TimedBenchmark(planned.config.benchmark)
        campaign = run_timed(
            workspace, replace(planned, benchmark=timed), replace(options, jobs=_LANES)
        )
    agent = mean_agent_seconds(campaign, trials)
    lanes = _LANES * campaign.wall
    return [
        Row(
            "campaign-overhead",
            f"a campaign of 100 one-second trials in {_LANES} lanes: share of the lanes' time that"
            " is outside of attempts",
            100 * (1 - timed.seconds / lanes),
            "%",
            10,
            at_least=False,
            detail=f"{trials} trials in {campaign.wall:.1f} s, of it {campaign.first:.2f} s until"
            f" the first one's proxy was ready and {campaign.wall - campaign.last:.2f} s after the"
            f" last one; an attempt {timed.seconds / trials:.2f} s, its agent"
            f" {agent:.2f} s, so that agents work in {100 * trials * agent / lanes:.0f} % of the"
            " lanes' time",
        )
    ]


class TimedBenchmark(CommandBenchmark):
    """Add up the time of the attempts, each from the start of its environment to the end.

    Making the attempt's folder and writing its outcome are not included, and so count as overhead.
    """

    def __init__(self, table: BenchmarkConfig) -> None:
        super().__init__(table)
        self.seconds = 0.0
        self._lock = threading.Lock()

    @override
    @contextmanager
    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> Iterator[TaskEnvironment]:
        began = time.perf_counter()
        try:
            with super().start_environment(task, folder, ca, direct=direct) as environment:
                yield environment
        finally:
            with self._lock:
                self.seconds += time.perf_counter() - began
