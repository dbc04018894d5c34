import json
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.traces import Counted, TrialKey, attempt_dir, write_outcome


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    folders = tmp_path / "real", tmp_path / "webarena"
    for folder in folders:
        for condition, score in (("clean", 1.0), ("server-error", 0.0)):
            key = TrialKey(folder.name, "a", condition, "t", 1)
            attempt = attempt_dir(folder, key, 1)
            attempt.mkdir(parents=True)
            outcome = Counted(ending="answered", score=score, latency_s=2.0)
            write_outcome(attempt, outcome)
    return folders


def test_runs_of_several_benchmarks_are_one_table(warex: Warex, runs: tuple[Path, Path]) -> None:
    said = warex("report", *runs)

    assert said.code == 0
    assert "\nreal, a\n" in said.out
    assert "\nwebarena, a\n" in said.out
    assert all(f"report   {run / 'report.html'}\n" in said.out for run in runs)


def test_one_run_has_the_papers_layout_when_asked(warex: Warex, runs: tuple[Path, Path]) -> None:
    said = warex("report", runs[0], "--paper")

    assert said.out.startswith("real, a\n")
    assert "Proxy - No Fault" in said.out


def test_json_is_a_list_of_several_and_an_object_of_one(
    warex: Warex, runs: tuple[Path, Path]
) -> None:
    both, one = warex("report", *runs, "--json"), warex("report", runs[0], "--paper", "--json")

    assert json.loads(both.out) == [json.loads((run / "summary.json").read_bytes()) for run in runs]
    assert json.loads(one.out) == json.loads((runs[0] / "summary.json").read_bytes())


def test_the_table_of_all_is_exported(
    warex: Warex, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    said = warex("report", *runs, "--export", tmp_path / "all")

    assert said.out.endswith(f"export   {tmp_path / 'all'}: 4 files\n")
    assert "real,a,clean" in (tmp_path / "all/paper.csv").read_text()


def test_a_demand_holds_for_each_run(warex: Warex, runs: tuple[Path, Path]) -> None:
    said = warex("report", *runs, "--fail-under", "clean.success>=2")

    assert said.code == 1
    assert all(str(run) in said.err for run in runs)


def test_a_folder_that_is_no_run_is_a_sentence(
    warex: Warex, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    said = warex("report", runs[0], tmp_path / "none")

    assert said.code == 2
    assert "none" in said.err
