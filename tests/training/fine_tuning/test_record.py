from pathlib import Path
from typing import Any

import pytest

from tests.exports.builders import MANIFEST
from warex.errors import InputError
from warex.exports.dataset import Dataset, SplitFacts
from warex.training.fine_tuning.hyperparameters import Hyperparameters
from warex.training.fine_tuning.record import (
    TrainingRecord,
    differences,
    read_record,
    require_same_training,
    training_record,
    write_record,
)


def record(kind: str = "sft", train: str = "a", **changes: Any) -> TrainingRecord:
    facts = SplitFacts(
        examples=1, failure=1, clean=0, relabelled=0, sites=(), page_families=(), faults=(),
        sha256=train,
    )  # fmt: skip
    manifest = MANIFEST.model_copy(update={"format": kind, "splits": {"train": facts}})
    dataset = Dataset(Path("data"), manifest, {})
    adapter = changes.pop("adapter", None)
    return training_record(changes.pop("model", "m"), adapter, dataset, Hyperparameters(**changes))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    begun = record(rank=4, adapter=Path("one"))
    write_record(tmp_path, begun)
    assert read_record(tmp_path) == begun


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (
            record(epochs=8, packing=True),
            ["--epochs was 4 and is 8", "--packing was off and is on"],
        ),
        (record(model="n"), ["--model was m and is n"]),
        (record(adapter=Path("one")), ["--adapter was none and is one"]),
        (record(train="b"), ["--data has other rows"]),
        (record(at_once=8, gradient_checkpointing=True), []),
        (record(model="./m"), []),
    ],
)
def test_what_would_change_a_result_differs(now: TrainingRecord, expected: list[str]) -> None:
    assert differences(record(), now) == expected


def test_the_examples_at_once_change_the_result_of_kto_alone() -> None:
    begun = record("kto", at_once=2)
    assert differences(begun, record("kto", at_once=4)) == ["--at-once was 2 and is 4"]
    assert differences(begun, record("kto", at_once="auto")) == []


def test_what_an_earlier_record_does_not_have_is_not_compared() -> None:
    begun = TrainingRecord.model_validate({"model": "m", "epochs": 4})
    assert differences(begun, record(adapter=Path("one"), seed=1, epochs=2)) == [
        "--epochs was 4 and is 2"
    ]


def test_a_record_without_its_adapter_has_not_the_adapters_lora() -> None:
    begun = TrainingRecord.model_validate({"model": "m", "rank": 8, "epochs": 4})
    continued: dict[str, Any] = {"rank": 24, "alpha": 48, "dropout": 0.1, "target": "q_proj"}
    assert differences(begun, record(adapter=Path("one"), **continued)) == []
    assert differences(begun, record(rank=24)) == ["--rank was 8 and is 24"]


def test_a_name_that_is_not_utf_8_is_recorded_and_compared(tmp_path: Path) -> None:
    begun = record(model="m\udcff", adapter=Path("one\udcff"), target="q\udcff")
    write_record(tmp_path, begun)
    assert read_record(tmp_path) == begun
    assert begun.model == r"m\udcff"
    assert differences(begun, record(model="m", adapter=Path("one\udcff"), target="q\udcff")) == [
        r"--model was m\udcff and is m"
    ]


def test_a_training_is_not_resumed_with_another_recipe() -> None:
    require_same_training(Path("out"), record(), record())
    with pytest.raises(
        InputError, match=r"^out cannot be resumed .* --batch was 8 and is 4\. Take"
    ):
        require_same_training(Path("out"), record(), record(batch=4))


def test_a_folder_without_a_training_is_not_resumed(tmp_path: Path) -> None:
    assert read_record(tmp_path) is read_record(tmp_path / "missing") is None
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match=r"not of a training to go on with: .* no recipe\.json"):
        read_record(tmp_path)
    (tmp_path / "recipe.json").write_text('{"model": "m", "epochs": -1}')
    with pytest.raises(InputError, match=r"recipe\.json: .*epochs"):
        read_record(tmp_path)
