import pytest
from bench.rows import calls
from bench.workspace import Workspace


@pytest.mark.wire
def test_the_calls_of_a_request_are_those_of_the_lanes_thread(workspace: Workspace) -> None:
    total, files = calls.measure(workspace)

    assert total.measured is not None
    assert files.measured is not None
    assert 100 < total.measured < 2000
    assert 10 < files.measured < 100
    assert "lane/exchanges.py" in files.detail
    assert "http/client.py" not in files.detail
