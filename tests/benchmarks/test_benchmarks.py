"""A benchmark is complete with a file, a test, a catalogue entry and its place in the docs."""

from pathlib import Path

import pytest

from warex.benchmarks import BENCHMARKS, Benchmark, benchmark_kind
from warex.errors import CampaignError

ROOT = Path(__file__).parents[2]
NO_BENCHMARKS = {
    "arming",
    "__init__",
    "base",
    "checkouts",
    "command_options",
    "command_tasks",
    "environments",
    "expect",
    "files",
    "json_path",
    "outside",
    "playwright",
    "program",
    "real_options",
    "recipe",
    "records",
    "single_page",
    "table",
    "testbed_pool",
    "vocabularies",
}

each = pytest.mark.parametrize("kind", BENCHMARKS, ids=lambda kind: kind.name)


def test_every_file_is_in_the_catalogue() -> None:
    files = {file.stem for file in (ROOT / "src/warex/benchmarks").glob("*.py")} - NO_BENCHMARKS

    assert {kind.__module__.rpartition(".")[2] for kind in BENCHMARKS} == files


@each
def test_name_file_test_and_docs_agree(kind: type[Benchmark]) -> None:
    docs = (ROOT / "docs/reference/benchmarks.md").read_text(encoding="utf-8")

    stem = kind.name.replace("-", "_")

    assert kind.__module__ == f"warex.benchmarks.{stem}"
    assert (ROOT / f"tests/benchmarks/test_{stem}.py").exists()
    assert f"| `{kind.name}` | {kind.summary} |" in docs


@each
def test_a_benchmark_is_found_by_its_name(kind: type[Benchmark]) -> None:
    assert benchmark_kind(kind.name) is kind


def test_an_unknown_benchmark_is_told_which_there_are() -> None:
    with pytest.raises(
        CampaignError, match=r"no benchmark 'tesbed'; did you mean 'testbed'\? There are: testbed"
    ):
        benchmark_kind("tesbed")
