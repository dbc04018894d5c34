import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.analysis.injections import Ledger
from warex.analysis.intervals import Rate
from warex.report.charts.delivery import delivery


def test_what_was_missed_is_the_hatched_rest_of_what_was_planned() -> None:
    told = Ledger(4, 3, (("client_gone", 1),), ())
    rows = row("clean"), row("down", exposure=Rate(3, 4), ledger=told)
    chart = delivery(run(*rows), table(*rows))
    done, missed = shapes(chart, "bar")

    assert done["width"] == pytest.approx(3 * missed["width"])
    assert "3 of 4" in words(chart)
    assert "clean" not in words(chart)
