import json
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from warex.traces import Counted, TrialKey, attempt_dir, write_outcome


def test_the_report_is_written_again_and_its_numbers_can_be_read(
    warex: Warex, tmp_path: Path
) -> None:
    folder = attempt_dir(tmp_path, TrialKey("testbed", "a", "no-proxy", "t", 1), 1)
    folder.mkdir(parents=True)
    write_outcome(folder, Counted(ending="answered", score=1.0, latency_s=2.0))
    result, read = warex("report", tmp_path), warex("report", tmp_path, "--json")
    silent = warex("report", tmp_path, "--quiet")

    assert result.code == read.code == silent.code == 0
    assert (silent.out, silent.err, read.err) == ("", "", "")
    assert "no-proxy" in result.out
    assert result.out.endswith(f"report   {tmp_path / 'report.html'}\n")
    assert (tmp_path / "report.html").is_file()
    assert json.loads(read.out) == json.loads((tmp_path / "summary.json").read_bytes())


def test_figures_and_tables_are_exported_into_a_folder(warex: Warex, tmp_path: Path) -> None:
    folder = attempt_dir(tmp_path, TrialKey("testbed", "a", "no-proxy", "t", 1), 1)
    folder.mkdir(parents=True)
    write_outcome(folder, Counted(ending="answered", score=1.0, latency_s=2.0))
    result = warex("report", tmp_path, "--export", tmp_path / "paper")

    files = {file.name for file in (tmp_path / "paper").iterdir()}
    assert {"success.svg", "success.csv", "success.tex", "success.md"} <= files
    assert result.out.endswith(f"export   {tmp_path / 'paper'}: {len(files)} files\n")


def test_statistics_are_printed_with_full(warex: Warex, tmp_path: Path) -> None:
    folder = attempt_dir(tmp_path, TrialKey("testbed", "a", "clean", "t", 1), 1)
    folder.mkdir(parents=True)
    write_outcome(folder, Counted(ending="answered", score=1.0, latency_s=2.0))
    short, full = warex("report", tmp_path), warex("report", tmp_path, "--full")

    assert f"full     warex report {tmp_path} --full\n" in short.out
    assert "latency" not in short.out
    assert short.out.partition("\nfull ")[0] in full.out
    assert "latency" in full.out


# --- several runs, and the layout of the paper ---------------------------------------------------


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
    result = warex("report", *runs)

    assert result.code == 0
    assert "\nreal, a\n" in result.out
    assert "\nwebarena, a\n" in result.out
    assert all(f"report   {run / 'report.html'}\n" in result.out for run in runs)


def test_one_run_has_the_papers_layout_when_asked(warex: Warex, runs: tuple[Path, Path]) -> None:
    result = warex("report", runs[0], "--paper")

    assert "\nreal, a\n" in result.out
    assert "Proxy - No Fault" in result.out


def test_json_is_a_list_of_several_and_an_object_of_one(
    warex: Warex, runs: tuple[Path, Path]
) -> None:
    both, one = warex("report", *runs, "--json"), warex("report", runs[0], "--paper", "--json")

    assert json.loads(both.out) == [json.loads((run / "summary.json").read_bytes()) for run in runs]
    assert json.loads(one.out) == json.loads((runs[0] / "summary.json").read_bytes())


def test_json_of_several_keeps_control_characters(warex: Warex, runs: tuple[Path, Path]) -> None:
    attempt = attempt_dir(runs[0], TrialKey("real", "a", "clean", "t\x9b", 1), 1)
    attempt.mkdir(parents=True)
    write_outcome(attempt, Counted(ending="answered", score=1.0, latency_s=2.0))
    result = warex("report", *runs, "--json")

    assert json.loads(result.out)[0] == json.loads((runs[0] / "summary.json").read_bytes())
    assert "\x9b" not in result.out


def test_the_table_of_all_is_exported(
    warex: Warex, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    result = warex("report", *runs, "--export", tmp_path / "all")

    assert result.out.endswith(f"export   {tmp_path / 'all'}: 4 files\n")
    assert "real,a,clean" in (tmp_path / "all/paper.csv").read_text()


def test_a_demand_holds_for_each_run(warex: Warex, runs: tuple[Path, Path]) -> None:
    result = warex("report", *runs, "--fail-under", "clean.n>=99")

    assert result.code == 1
    assert all(str(run) in result.err for run in runs)


def test_a_demand_that_chance_leaves_open_for_each_run_ends_with_4(
    warex: Warex, runs: tuple[Path, Path]
) -> None:
    demand = "clean.success<=0.5"
    assert warex("report", *runs, "--fail-under", demand).code == 4
    assert warex("report", *runs, "--fail-under", demand, "--on-unclear", "fail").code == 1
    passed = warex("report", *runs, "--fail-under", demand, "--on-unclear", "pass")
    assert passed.code == 0
    assert "it cannot be decided whether the run meets --fail-under" in passed.err


def test_a_condition_that_a_run_lacks_is_bad_input(warex: Warex, runs: tuple[Path, Path]) -> None:
    result = warex("report", *runs, "--fail-under", "nocond.success>=0.9")

    assert result.code == 2
    assert f"{runs[0]}: 'nocond.success>=0.9': there is no condition 'nocond'" in result.err


def test_a_folder_that_is_not_a_run_is_a_sentence(
    warex: Warex, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    result = warex("report", runs[0], tmp_path / "none")

    assert result.code == 2
    assert "none" in result.err
