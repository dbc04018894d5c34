import pytest

from tests.analysis.builders import RunFolder, Story, solved
from tests.analysis.metrics.conditions import figures, unhurt, value


def test_replayed_answers_count_in_means_but_not_in_what_was_paid(folder: RunFolder) -> None:
    replayed = Story().thinks(1, "goto", original=2.5).thinks(2, "click").page("x1").stops()
    folder.trial("clean", "add", solved(2), replayed)
    folder.trial("clean", "move", solved(4), unhurt())

    row = figures(folder, "clean")

    call = (1000 * 2.5 + 10 * 10) / 1e6
    assert value(row.cost_usd) == pytest.approx(3 * call / 2)
    assert row.paid_usd == pytest.approx(2 * call)
    assert row.replayed_calls == 1
    assert value(row.latency_s) == (2 + (2.5 - 0.5) + 4) / 2


def test_replayed_calls_are_counted_over_all_trials(folder: RunFolder) -> None:
    again = Story().thinks(1, "goto", original=2.5).page("x1").stops()
    for task in ("add", "move"):
        folder.trial("clean", task, solved(), again)

    assert figures(folder, "clean").replayed_calls == 2
