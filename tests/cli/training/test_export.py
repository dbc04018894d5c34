import json
from pathlib import Path

import pytest

from tests.exports.runs import several_sites
from warex.cli import main
from warex.exports.dataset import read_dataset


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

    said = capsys.readouterr().out
    dataset = read_dataset(tmp_path / "data")
    assert dataset.manifest.format == kind
    assert dataset.manifest.made_by.startswith("warex export ")
    assert all(dataset.splits[side] for side in ("train", "validation", "test"))
    assert "train" in said
    assert f"data set   {tmp_path / 'data'}" in said


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


def test_names_can_be_held_out(tmp_path: Path) -> None:
    options = ("--test", "site=mail.*", "--validation", "site=forum.example")
    assert exported(tmp_path, *options) == 0

    splits = read_dataset(tmp_path / "data").manifest.splits
    assert splits["test"].sites == ("mail.example",)
    assert splits["validation"].sites == ("forum.example",)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--test", "site"), "--test site: that is not DIMENSION=NAME; dimensions are site, group"),
        (("--split", "none", "--test", "site=x"), "--split none goes with no other"),
        (("--group", "("), "--group '(' is no pattern"),
        (("--group", "shop"), "--group 'shop' has no group"),
        (("--shares", "9:1"), "'9:1' is not TRAIN:VALIDATION:TEST, as 9:1:1"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    assert exported(tmp_path, *options) == 2

    assert said in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_a_folder_that_is_no_run_or_holds_something_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine").write_text("x")
    assert exported(tmp_path) == 2
    assert "is not empty" in capsys.readouterr().err

    (tmp_path / "none").mkdir()
    assert code("export", tmp_path / "none", "--out", tmp_path / "new") == 2
    assert "is no run" in capsys.readouterr().err
