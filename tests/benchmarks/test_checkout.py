"""A folder that is not a checkout is reported, with what to do."""

from pathlib import Path

from warex.benchmarks import BenchmarkConfig
from warex.benchmarks.adapters.webvoyager import WebVoyagerBenchmark
from warex.benchmarks.checkout import describe_path


def test_a_checkout_that_lacks_a_file_is_reported_with_what_to_do(tmp_path: Path) -> None:
    table = BenchmarkConfig(name="webvoyager", options={"checkout": str(tmp_path)})
    benchmark = WebVoyagerBenchmark(table)

    assert str(benchmark.checkout_lacks("run.py")) == (
        f"benchmark.options.checkout: {tmp_path} holds no run.py: it is an empty folder; give the"
        " folder into which WebVoyager was cloned"
    )
    results = {each.name: each for each in benchmark.diagnose()}
    assert results["webvoyager checkout"].state == "missing"
    (tmp_path / "run.py").touch()
    results = {each.name: each for each in benchmark.diagnose()}
    assert results["webvoyager checkout"].sentence == f"{tmp_path}: run.py"


def test_what_is_found_at_a_path_is_reported_in_a_few_words(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "blank").touch()
    (tmp_path / "loose").symlink_to(tmp_path / "gone")
    many = tmp_path / "many"
    many.mkdir()
    for name in ("f", "e", "d", "c", "b", "a", ".git"):
        (many / name).touch()

    assert [
        describe_path(tmp_path / name) for name in ("gone", "empty", "file", "blank", "loose")
    ] == [
        "there is nothing of this name",
        "it is an empty folder",
        "it is a file",
        "it is an empty file",
        "it is a link to nowhere",
    ]
    assert describe_path(many) == "it is a folder that holds a, b, c, d, e, …"
