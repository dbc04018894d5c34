"""Each line of a trace belongs to one run of a task, or to none."""

from tests.analysis.several_tasks import TRACE, asked, trace
from warex.analysis.trial.attribution import Run, by_task, owners


def test_a_task_that_began_twice_has_two_runs() -> None:
    assert owners(TRACE) == {
        "x1": Run(""),
        "x2": Run("one"),
        "x3": Run("one"),
        "a1": Run("one"),
        "x4": Run("own"),
        "x5": Run("one", 2),
        "x6": Run(""),
    }
    assert set(by_task(TRACE)) == {Run(""), Run("one"), Run("own"), Run("one", 2)}


def test_where_no_task_was_told_of_nothing_is_attributed() -> None:
    entries = trace(asked("x1"))
    assert not owners(entries)
    assert not by_task(entries)
