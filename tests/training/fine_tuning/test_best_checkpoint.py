from pathlib import Path

import pytest

from tests.exports.builders import MANIFEST, row
from warex.errors import InputError
from warex.exports.dataset import Dataset
from warex.exports.names import Kind
from warex.training.fine_tuning.best_checkpoint import require_answers, score
from warex.training.fine_tuning.hyperparameters import Hyperparameters

BY_ANSWERS = Hyperparameters(keep_best="recovery")


def test_both_kinds_have_equal_weight() -> None:
    clean: list[tuple[Kind, bool]] = [("clean", True)] * 9

    assert score([*clean, ("failure", False)]) == 0.5
    assert score([*clean, ("failure", True)]) == 1
    assert score([("clean", False), ("failure", True)]) == 0.5


def test_a_kind_without_rows_is_left_out() -> None:
    assert score([("failure", True)]) == 1


def test_answers_choose_only_where_there_are_rows_to_ask() -> None:
    pairs = MANIFEST.model_copy(update={"format": "dpo"})
    with pytest.raises(InputError, match="of the format dpo: take --keep-best loss"):
        require_answers(BY_ANSWERS, Dataset(Path("d"), pairs, {}))
    with pytest.raises(InputError, match="no row in validation"):
        require_answers(BY_ANSWERS, Dataset(Path("d"), MANIFEST, {"train": (row(),)}))
    require_answers(BY_ANSWERS, Dataset(Path("d"), MANIFEST, {"validation": (row(),)}))
    require_answers(Hyperparameters(), Dataset(Path("d"), MANIFEST, {}))
