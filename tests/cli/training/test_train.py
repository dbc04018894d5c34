import json
from pathlib import Path

import pytest

from tests.exports.builders import MANIFEST, failure, row
from tests.training.tiny_model import tiny_model
from warex.cli import main
from warex.exports.dataset import UnwrittenDataset, write_dataset
from warex.extras import install_command


def code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [make(f"{name}{at}") for name, make in (("c", row), ("f", failure)) for at in range(4)]
    splits = {"train": rows, "test": [row("c9"), failure("f9")]}
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, splits), lambda _: "")
    return tmp_path / "data"


def test_a_folder_that_is_not_a_data_set_is_refused_before_torch_loads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code("train", "--data", tmp_path, "--model", "m", "--out", tmp_path / "out") == 2
    assert "is not a data set: it has no dataset.json" in capsys.readouterr().err


def test_pairs_are_expected_where_they_are_asked_for(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("train", "--dpo", "--data", data, "--model", "m", "--out", data / "out")
    assert code(*command) == 2
    assert "is a data set of the format sft, not dpo" in capsys.readouterr().err


def test_the_missing_extra_is_named_with_the_command_that_brings_it(
    data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert code("train", "--data", data, "--model", "m", "--out", data / "out") == 3
    assert f"not installed here: {install_command('train')}" in capsys.readouterr().err


@pytest.mark.slow
def test_an_adapter_is_trained_and_tested_beside_its_base(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = tiny_model(tmp_path / "model"), tmp_path / "out"
    recipe = ("--epochs", 40, "--learning-rate", 0.01, "--batch", 4, "--precision", "fp32")

    assert code("train", "--data", data, "--model", model, "--out", out, *recipe) == 0
    output = capsys.readouterr().out
    assert "data      8 examples: 4 failure, 4 clean" in output
    assert "learning_rate 0.01" in output
    assert f"adapter   {out}" in output

    tested = ("--data", data, "--split", "train", "--model", model, "--adapter", out)
    assert code("evaluate", *tested, "--precision", "fp32", "--json") == 0
    base, tuned = json.loads(capsys.readouterr().out)
    assert base["recovery"]["hits"] == 0
    assert tuned["recovery"]["hits"] == tuned["recovery"]["n"] == 4
    assert tuned["model"] == out.name
