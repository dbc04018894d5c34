import json
from pathlib import Path
from xml.etree.ElementTree import parse

import pytest

from tests.analysis.output.test_comparison import run
from tests.cli.conftest import Warex


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    return run(tmp_path / "old", 12).path, run(tmp_path / "new", 2).path


def test_a_report_and_a_comparison_write_the_files_also_when_a_gate_breaks(
    warex: Warex, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    files = ("--junit", tmp_path / "a.xml", "--junit-trials", "--sarif", tmp_path / "a.sarif")
    gate = ("--fail-under", "recovery>=0.8 and clean.success>=0.9")

    assert warex("report", runs[1], *gate, *files).code == 1
    (suite,) = parse(tmp_path / "a.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("26", "11")
    assert [case.get("name") for case in suite[:2]] == ["recovery>=0.8", "clean.success>=0.9"]
    assert [len(case) for case in suite[:2]] == [1, 0]
    assert json.loads((tmp_path / "a.sarif").read_bytes())["runs"][0]["results"] == []

    assert warex("compare", *runs, "--fail-if-worse", *files[:2]).code == 1
    (suite,) = parse(tmp_path / "a.xml").getroot()
    assert [(case.get("name"), len(case)) for case in suite] == [("not worse", 1)]


def test_annotations_are_beside_json(
    warex: Warex, runs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    plain = warex("compare", *runs, "--fail-if-worse")
    with_json = warex("compare", *runs, "--fail-if-worse", "--json")

    assert "\n::error title=WAREX%3A not worse::a: worse: " in plain.out
    assert json.loads(with_json.out)
    assert "::error title=" in with_json.err
    assert (tmp_path / "summary.md").read_text().count("## WAREX: comparison") == 2


def test_a_file_that_cannot_be_written_is_a_sentence(
    warex: Warex, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    ended = warex("report", runs[0], "--junit", tmp_path)

    assert ended.code == 2
    assert "this is a folder" in ended.err
    assert "Traceback" not in ended.err
