from pathlib import Path

import pytest
from bench.rows.latency import TlsTestbed
from bench.workspace import Workspace


@pytest.mark.wire
@pytest.mark.parametrize("direct", [False, True])
def test_the_testbed_serves_tls_with_and_without_a_proxy(
    workspace: Workspace, tmp_path: Path, direct: bool
) -> None:
    benchmark = TlsTestbed()
    task = benchmark.tasks()[0]

    with benchmark.start_environment(task, tmp_path, workspace.ca, direct=direct) as environment:
        maps = environment.maps

    assert maps
    assert all(it.startswith("https://") and "=https://127.0.0.1:" in it for it in maps)
