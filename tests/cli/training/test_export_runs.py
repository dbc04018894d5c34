import json
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from tests.exports.runs import several_sites


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return several_sites(tmp_path / "run").path


def test_a_run_becomes_archives_and_a_trial_one_file(
    warex: Warex, run: Path, tmp_path: Path
) -> None:
    ended = warex("export", run, "--to", "har", "--out", tmp_path / "out")
    trial = next((run / "trials").glob("*/*/*/*/1"))
    single = warex("export", trial, "--to", "har", "--out", tmp_path / "x.har")

    assert (ended.code, single.code) == (0, 0)
    assert "har        9 trials" in ended.out
    assert len(list((tmp_path / "out").rglob("*.har"))) == 9
    assert json.loads((tmp_path / "x.har").read_bytes())["log"]["version"] == "1.2"


def test_a_run_becomes_traces(warex: Warex, run: Path, tmp_path: Path) -> None:
    ended = warex("export", run, "--to", "otel", "--out", tmp_path / "out")

    assert ended.code == 0
    assert "otel       9 trials" in ended.out
    assert len((tmp_path / "out/traces.jsonl").read_text().splitlines()) == 9


def test_a_run_becomes_tables(warex: Warex, run: Path, tmp_path: Path) -> None:
    ended = warex(
        "export", run, "--to", "parquet", "--out", tmp_path / "out", "--condition", "clean"
    )

    assert ended.code == 0
    assert "trials     3 rows\n" in ended.out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("trials.parquet", "steps.parquet", "exchanges.parquet", "faults.parquet")
    }


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--split", "site"), "--split is for data sets, and --to har writes runs as they are"),
        (("--agent", "nobody"), "no trial with a trace of these agents and conditions"),
    ],
)
def test_what_does_not_go_with_it_is_a_sentence(
    warex: Warex, run: Path, tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    ended = warex("export", run, "--to", "har", "--out", tmp_path / "out", *options)

    assert ended.code == 2
    assert sentence in ended.err
    assert not (tmp_path / "out").exists()


def test_an_archive_holds_one_trial_and_replaces_nothing(
    warex: Warex, run: Path, tmp_path: Path
) -> None:
    many = warex("export", run, "--to", "har", "--out", tmp_path / "x.har")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    full = warex("export", run, "--to", "parquet", "--out", tmp_path / "full")

    assert "an archive holds one trial, and there are 9" in many.err
    assert "is not empty" in full.err
    assert (many.code, full.code) == (2, 2)
