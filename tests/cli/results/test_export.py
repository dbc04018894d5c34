import json
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, solved
from tests.cli.conftest import Warex
from tests.exports.runs import clean, several_sites
from warex.cli import main
from warex.exports.dataset import read_dataset
from warex.extras import install_command


@pytest.fixture(autouse=True)
def _no_rules_on_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave scikit-learn out, whose import takes seconds."""
    monkeypatch.setattr("warex.exports.separability.can_count_words", lambda: False)


def code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def exported(tmp_path: Path, *options: str) -> int:
    several_sites(tmp_path / "run")
    return code("export", tmp_path / "run", "--out", tmp_path / "data", *options)


@pytest.mark.parametrize("kind", ["sft", "dpo", "kto"])
def test_a_run_becomes_a_data_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert exported(tmp_path, "--to", kind, "--split", "site", "--shares", "1:1:1") == 0

    output = capsys.readouterr().out
    dataset = read_dataset(tmp_path / "data")
    assert dataset.manifest.format == kind
    assert dataset.manifest.made_by.startswith("warex export ")
    assert all(dataset.splits[side] for side in ("train", "validation", "test"))
    assert "train" in output
    assert ("separable  " in output) is (kind != "dpo")
    assert f"data set   {tmp_path / 'data'}" in output


@pytest.mark.parametrize(("kind", "field"), [("atif", "steps"), ("adp", "content")])
def test_trajectories_are_for_other_programs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, field: str
) -> None:
    assert exported(tmp_path, "--to", kind, "--split", "site", "--shares", "1:1:1") == 0

    lines = (tmp_path / "data/train.jsonl").read_text().splitlines()
    assert all(json.loads(line)[field] for line in lines)
    assert code("train", "--data", tmp_path / "data", "--model", "m", "--out", tmp_path / "o") == 2
    assert f"of the format {kind}, which is for other programs" in capsys.readouterr().err


def test_personal_data_are_masked_where_that_is_wanted(tmp_path: Path) -> None:
    assert exported(tmp_path, "--mask", "--split", "none") == 0
    assert read_dataset(tmp_path / "data").manifest.masked


def test_steps_are_answered_by_oracles_only_where_tasks_have_solutions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tmp_path, "--oracle", "--split", "none") == 0
    assert read_dataset(tmp_path / "data").manifest.oracle
    folder = RunFolder(tmp_path / "other", benchmark="webarena").manifest()
    folder.trial("clean", "0", solved(), clean())

    assert code("export", folder.path, "--oracle", "--out", tmp_path / "none") == 2
    assert "the tasks of the benchmark 'webarena' come without solutions" in capsys.readouterr().err


def test_clean_steps_alone_are_split_by_site_by_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tmp_path, "--only", "clean", "--shares", "1:1:1") == 0
    assert read_dataset(tmp_path / "data").manifest.split_by == ("site",)

    options = ("--only", "clean", "--split", "page_family")
    assert code("export", tmp_path / "run", "--out", tmp_path / "new", *options) == 2
    assert "clean steps have none. `--split site` fits" in capsys.readouterr().err


def test_names_can_be_held_out(tmp_path: Path) -> None:
    options = ("--test", "site=mail.*", "--validation", "site=forum.example")
    assert exported(tmp_path, *options) == 0

    splits = read_dataset(tmp_path / "data").manifest.splits
    assert splits["test"].sites == ("mail.example",)
    assert splits["validation"].sites == ("forum.example",)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--test", "site"), "--test site: that is not DIMENSION=NAME; dimensions are site, group"),
        (("--split", "none", "--test", "site=x"), "--split none goes with no other"),
        (("--group", "("), "--group '(' is not a pattern"),
        (("--group", "shop"), "--group 'shop' has no group"),
        (("--shares", "9:1"), "'9:1' is not TRAIN:VALIDATION:TEST, such as 9:1:1"),
    ],
)
def test_what_cannot_be_done_is_reported_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], text: str
) -> None:
    assert exported(tmp_path, *options) == 2

    assert text in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_a_folder_that_is_not_a_run_or_holds_something_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine").write_text("x")
    assert exported(tmp_path) == 2
    assert "is not empty" in capsys.readouterr().err

    (tmp_path / "none").mkdir()
    assert code("export", tmp_path / "none", "--out", tmp_path / "new") == 2
    assert "is not a run" in capsys.readouterr().err


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
    logs = warex("export", run, "--to", "paper-log", "--out", tmp_path / "logs")

    assert ended.code == 0
    assert "paper-log  9 trials" in logs.out
    assert len(list((tmp_path / "logs").rglob("*.log"))) == 9
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
        (("--otlp", "http://a.example"), "--otlp goes with --to otel, not with --to har"),
        (("--otlp", "a.example:4318"), "not the http:// or https:// URL of a receiver"),
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


def test_without_inspect_a_sentence_names_the_extra(
    warex: Warex, run: Path, tmp_path: Path
) -> None:
    ended = warex("export", run, "--to", "inspect", "--out", tmp_path / "out")

    assert ended.code == 3
    remedy = install_command("inspect")
    assert f"--to inspect needs inspect_ai, not installed here: {remedy}" in ended.err
    assert not (tmp_path / "out").exists()


def test_traces_have_one_place(warex: Warex, run: Path, tmp_path: Path) -> None:
    both = warex(
        *("export", run, "--to", "otel", "--otlp", "http://a.example", "--out", tmp_path / "out")
    )
    neither = warex("export", run, "--to", "otel")

    assert "--otlp and --out are two places for the traces" in both.err
    assert "Missing option '--out'" in neither.err
    assert (both.code, neither.code) == (2, 2)
