"""Each line of a trace belongs to one run of a task, or to none."""

from tests.analysis.several_tasks import TRACE, asked, trace
from warex.analysis.trial.attribution import TaskRun, entries_by_task, tasks_by_exchange


def test_a_task_that_began_twice_has_two_runs() -> None:
    assert tasks_by_exchange(TRACE) == {
        "x1": TaskRun(""),
        "x2": TaskRun("one"),
        "x3": TaskRun("one"),
        "a1": TaskRun("one"),
        "x4": TaskRun("own"),
        "x5": TaskRun("one", 2),
        "x6": TaskRun(""),
    }
    assert set(entries_by_task(TRACE)) == {
        TaskRun(""),
        TaskRun("one"),
        TaskRun("own"),
        TaskRun("one", 2),
    }


def test_without_announced_tasks_nothing_is_attributed() -> None:
    entries = trace(asked("x1"))
    assert not tasks_by_exchange(entries)
    assert not entries_by_task(entries)
