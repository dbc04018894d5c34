import json
from pathlib import Path

import pytest

from tests.exports.builders import MANIFEST, failure, row
from tests.training.tiny_model import tiny_model
from warex.cli import main
from warex.exports.dataset import UnwrittenDataset, write_dataset


def code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def data(folder: Path, *sides: str) -> Path:
    rows = [make(f"{name}{at}") for name, make in (("c", row), ("f", failure)) for at in range(4)]
    write_dataset(folder, UnwrittenDataset(MANIFEST, dict.fromkeys(sides, rows)), lambda _: "")
    return folder


def test_a_data_set_without_test_rows_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = data(tmp_path / "data", "train")
    assert code("ablate", "--data", path, "--model", "m", "--out", tmp_path / "out") == 2
    assert "has no row in test: there is nothing to ask" in capsys.readouterr().err


@pytest.mark.slow
def test_each_variant_is_trained_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, model = data(tmp_path / "data", "train", "test"), tiny_model(tmp_path / "model")
    recipe = ("--epochs", 2, "--batch", 4, "--precision", "fp32")
    seeds = ("--seed", 0, "--seed", 1)

    out = tmp_path / "out"
    command = ("ablate", "--data", path, "--model", model, "--out", out, *recipe, *seeds)
    assert code(*command, "--examples", 2, "--limit", 1) == 0

    assert "2 failures" in capsys.readouterr().out
    rows = json.loads((out / "ablation.json").read_text())
    assert [(it["variant"], it["seed"], *it["trained_on"].values()) for it in rows] == [
        ("all", 0, 4, 4),
        ("all", 1, 4, 4),
        ("2 failures", 0, 2, 2),
        ("2 failures", 1, 2, 2),
    ]
    assert all(it["recovery"]["n"] == 1 for it in rows)
    assert (out / "all-1/adapter_model.safetensors").exists()
