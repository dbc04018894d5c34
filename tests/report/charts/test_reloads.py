import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.report.charts.reloads import reloads


def test_reloads_are_counted_for_each_agent_and_condition_that_is_watched() -> None:
    rows = (
        row("no-proxy"),
        row("clean", reloads=0),
        row("down", n=4, reloads=8),
        row("down", n=4, reloads=4, agent="hasty"),
    )
    chart = reloads(run(*rows), table(*rows))
    bars = [shape["width"] for shape in shapes(chart, "bar")]

    assert bars[0] == 0
    assert bars[1] == pytest.approx(2 * bars[2])
    assert "8 in 4 trials" in words(chart)
    assert "no-proxy" not in words(chart)
