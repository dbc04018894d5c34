"""Each task of a trial has numbers of its own, and what is nobody's is told."""

from tests.analysis.several_tasks import TRACE, asked, called, trace
from warex.analysis.inspection.tasks import task_uses
from warex.llm.prices.table import built_in_prices


def test_each_task_has_numbers_of_its_own_and_the_rest_is_unattributed() -> None:
    uses = task_uses(TRACE, built_in_prices())
    assert [
        (it.task, it.run, it.told_by, it.exchanges, len(it.llm.calls), it.llm.steps, it.delivered)
        for it in uses
    ] == [
        ("one", 1, "marker", 1, 1, 1, 2),
        ("own", 1, "header", 0, 1, 1, 0),
        ("one", 2, "marker", 0, 2, 2, 0),
        ("", 1, None, 2, 0, 0, 0),
    ]


def test_a_trace_without_tasks_has_no_task_figures() -> None:
    assert task_uses(trace(asked("x1"), called("x1", 1)), built_in_prices()) == ()
