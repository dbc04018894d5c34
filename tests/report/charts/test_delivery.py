import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.analysis.stats.estimates import Rate
from warex.report.charts.delivery import delivery


def test_what_was_missed_is_the_hatched_rest_of_what_was_planned() -> None:
    rows = row("clean"), row("down", exposure=Rate(3, 4), planned=4, delivered=3)
    chart = delivery(run(*rows), table(*rows))
    done, missed = shapes(chart, "bar")

    assert done["width"] == pytest.approx(3 * missed["width"])
    assert "3 of 4" in words(chart)
    assert "clean" not in words(chart)
