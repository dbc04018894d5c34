"""A benchmark is complete with a file, an example, a test, and entries in catalogue and docs."""

import re
from pathlib import Path

import pytest

from warex.benchmarks import BENCHMARKS, Benchmark, benchmark_kind
from warex.errors import CampaignError

ROOT = Path(__file__).parents[2]
PARTS = {"__init__", "real_options", "testbed_pool", "webarena_tasks"}
"""Files beside the adapters that are no benchmark's own."""

COMMAND = "command.adapter"
"""Of any command, and so more than a file."""

each = pytest.mark.parametrize("kind", BENCHMARKS, ids=lambda kind: kind.name)


def place(kind: type[Benchmark]) -> str:
    return kind.__module__.removeprefix("warex.benchmarks.")


def test_every_file_is_in_the_catalogue() -> None:
    files = {file.stem for file in (ROOT / "src/warex/benchmarks/adapters").glob("*.py")} - PARTS

    assert {place(kind) for kind in BENCHMARKS} == {*(f"adapters.{it}" for it in files), COMMAND}


@each
def test_name_file_test_and_docs_agree(kind: type[Benchmark]) -> None:
    docs = (ROOT / "docs/reference/benchmarks.md").read_text(encoding="utf-8")
    folder, file = place(kind).split(".")

    assert place(kind) in (f"adapters.{kind.name.replace('-', '_')}", COMMAND)
    assert (ROOT / f"tests/benchmarks/{folder}/test_{file}.py").exists()
    assert (ROOT / f"src/warex/benchmarks/examples/{kind.name}.toml").exists()
    assert f"| `{kind.name}` | {kind.summary} |" in docs


def test_the_docs_name_what_an_adapter_really_has() -> None:
    docs = (ROOT / "docs/reference/benchmarks.md").read_text(encoding="utf-8")
    section = docs[docs.index("## Adding a benchmark") :].partition("\n## ")[0]

    named = set(re.findall(r"`(\w+)\(", section))
    assert len(named) > 10
    assert {name for name in named if not hasattr(Benchmark, name)} == set()


@each
def test_a_benchmark_is_found_by_its_name(kind: type[Benchmark]) -> None:
    assert benchmark_kind(kind.name) is kind


def test_an_unknown_benchmark_is_reported_with_the_nearest_or_with_all() -> None:
    with pytest.raises(CampaignError, match=r"no benchmark 'tesbed'; did you mean 'testbed'\?$"):
        benchmark_kind("tesbed")
    with pytest.raises(CampaignError, match=r"no benchmark 'x'.*testbed"):
        benchmark_kind("x")
