import time
from pathlib import Path

import pytest
from bench.campaigns import one_second_trials
from bench.rows.overhead import TimedBenchmark
from bench.workspace import Workspace


@pytest.mark.wire
def test_the_time_of_each_attempt_is_added_up(workspace: Workspace, tmp_path: Path) -> None:
    with one_second_trials(workspace, 2) as (planned, _):
        benchmark = TimedBenchmark(planned.config.benchmark)
        for task in benchmark.tasks():
            folder = tmp_path / task
            folder.mkdir()
            with benchmark.start_environment(task, folder, workspace.ca, direct=False):
                time.sleep(0.02)

    assert benchmark.seconds >= 0.04
