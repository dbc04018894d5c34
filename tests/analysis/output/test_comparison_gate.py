from pathlib import Path

import pytest

from tests.analysis.output.test_comparison import compared, run
from warex.analysis.output.comparison_gate import judge_comparisons, judge_verdicts
from warex.errors import InputError


@pytest.mark.parametrize(
    ("before", "after", "end"),
    [(12, 2, "broken"), (6, 6, "holds"), (8, 6, "cannot tell"), (2, 12, "holds")],
)
def test_a_gate_on_a_change_holds_breaks_or_is_undecided(
    tmp_path: Path, before: int, after: int, end: str
) -> None:
    run(tmp_path / "old", before)
    run(tmp_path / "new", after)
    comparison = compared(tmp_path / "old", tmp_path / "new")
    assert judge_comparisons([comparison], "delta>=-0.1").end == end
    assert judge_comparisons([comparison], "clean.delta>=-0.1").end == "holds"
    assert judge_comparisons([comparison], "server-error.delta_recovery>=-0.1").end == end


@pytest.mark.parametrize(
    ("before", "after", "end"),
    [(12, 2, "broken"), (6, 6, "cannot tell"), (2, 12, "holds")],
)
def test_a_verdict_is_a_gate_with_three_ends(
    tmp_path: Path, before: int, after: int, end: str
) -> None:
    run(tmp_path / "old", before)
    run(tmp_path / "new", after)
    assert judge_verdicts([compared(tmp_path / "old", tmp_path / "new")]).end == end


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("success>=0.5", "there is no metric 'success'. There are: delta, delta_recovery"),
        ("delta>=-10", "delta is from -1 to 1"),
        ("server-eror.delta>=0", "did you mean 'server-error'"),
    ],
)
def test_what_is_not_a_threshold_of_a_change_is_reported(
    tmp_path: Path, expression: str, message: str
) -> None:
    run(tmp_path / "old", 2, n=2, clean=2)
    with pytest.raises(InputError, match=message):
        judge_comparisons([compared(tmp_path / "old", tmp_path / "old")], expression)
