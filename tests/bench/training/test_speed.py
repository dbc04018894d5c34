from pathlib import Path

import pytest
from bench.training import speed

from warex.exports.dataset import read_dataset


def test_rows_have_as_many_tokens_as_were_asked_for(tmp_path: Path) -> None:
    tokens = speed.write_rows(tmp_path / "data", 6, 250)

    rows = read_dataset(tmp_path / "data").rows("train")
    assert len(rows) == 6
    assert tokens == 6 * 250
    assert {row.kind for row in rows} == {"failure", "clean"}


@pytest.mark.slow
def test_both_ways_train_on_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    # Whether one is faster is for a quiet machine and a real size.
    options = ["--size", "tiny", "--examples", "8", "--tokens", "250", "--rounds", "1"]

    speed.main([*options, "--precision", "fp32"])

    answers_by_model = capsys.readouterr().out
    assert "| warex |" in answers_by_model
    assert "| trl |" in answers_by_model
    assert "times the speed of plain TRL" in answers_by_model
