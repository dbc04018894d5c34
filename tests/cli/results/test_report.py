import json
from pathlib import Path

from tests.cli.conftest import Warex
from warex.traces import Counted, TrialKey, attempt_dir, write_outcome


def test_the_report_is_written_anew_and_its_numbers_can_be_read(
    warex: Warex, tmp_path: Path
) -> None:
    folder = attempt_dir(tmp_path, TrialKey("testbed", "a", "no-proxy", "t", 1), 1)
    folder.mkdir(parents=True)
    write_outcome(folder, Counted(ending="answered", score=1.0, latency_s=2.0))
    said, read = warex("report", tmp_path), warex("report", tmp_path, "--json")

    assert said.code == read.code == 0
    assert "no-proxy" in said.out
    assert said.out.endswith(f"report   {tmp_path / 'report.html'}\n")
    assert (tmp_path / "report.html").is_file()
    assert json.loads(read.out) == json.loads((tmp_path / "summary.json").read_bytes())


def test_figures_and_tables_are_exported_into_a_folder(warex: Warex, tmp_path: Path) -> None:
    folder = attempt_dir(tmp_path, TrialKey("testbed", "a", "no-proxy", "t", 1), 1)
    folder.mkdir(parents=True)
    write_outcome(folder, Counted(ending="answered", score=1.0, latency_s=2.0))
    said = warex("report", tmp_path, "--export", tmp_path / "paper")

    files = {file.name for file in (tmp_path / "paper").iterdir()}
    assert {"success.svg", "success.csv", "success.tex", "success.md"} <= files
    assert said.out.endswith(f"export   {tmp_path / 'paper'}: {len(files)} files\n")


def test_the_statistics_stand_behind_full(warex: Warex, tmp_path: Path) -> None:
    folder = attempt_dir(tmp_path, TrialKey("testbed", "a", "clean", "t", 1), 1)
    folder.mkdir(parents=True)
    write_outcome(folder, Counted(ending="answered", score=1.0, latency_s=2.0))
    short, full = warex("report", tmp_path), warex("report", tmp_path, "--full")

    assert f"full     warex report {tmp_path} --full\n" in short.out
    assert "latency" not in short.out
    assert short.out.partition("\nfull ")[0] in full.out
    assert "latency" in full.out
