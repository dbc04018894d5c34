"""Whoever named a folder that is no checkout is told so, with what to do."""

from pathlib import Path

from warex.benchmarks import BenchmarkConfig
from warex.benchmarks.adapters.webvoyager import WebVoyagerBenchmark


def test_a_checkout_that_lacks_a_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    table = BenchmarkConfig(name="webvoyager", options={"checkout": str(tmp_path)})
    benchmark = WebVoyagerBenchmark(table)

    assert str(benchmark.checkout_lacks("run.py")) == (
        f"benchmark.options.checkout: {tmp_path} holds no run.py: it is an empty folder; give the"
        " folder into which WebVoyager was cloned"
    )
    found = {each.name: each for each in benchmark.diagnose()}
    assert found["webvoyager checkout"].state == "missing"
    (tmp_path / "run.py").touch()
    found = {each.name: each for each in benchmark.diagnose()}
    assert found["webvoyager checkout"].sentence == f"{tmp_path}: run.py"
