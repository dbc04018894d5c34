import os

import pytest

from warex.benchmarks import BenchmarkConfig, benchmark_of
from warex.campaigns.run.context import context_for
from warex.traffic import TrafficOptions

pytestmark = pytest.mark.wire

TESTBED = benchmark_of(BenchmarkConfig(name="testbed"))


def test_shared_resources_end_with_the_trials() -> None:
    with context_for(TESTBED, (), 60.0, TrafficOptions(), "environment") as setting:
        pid = setting.forkserver.pid
        assert pid is not None
        os.kill(pid, 0)
        assert setting.model is None

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
