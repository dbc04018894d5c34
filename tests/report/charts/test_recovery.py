import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.analysis.stats.estimates import Rate
from warex.report.charts.recovery import recovery


def test_only_conditions_that_inject_have_a_recovery_rate() -> None:
    rows = (
        row("clean"),
        row("down", exposure=Rate(4, 4), recovery=Rate(1, 2)),
        row("slow", exposure=Rate(4, 4), recovery=Rate(0, 0)),
    )
    chart = recovery(run(*rows), table(*rows))
    [bar] = shapes(chart, "bar")
    at = {shape.words: shape["x"] for shape in shapes(chart, "faint")}

    assert bar["x"] + bar["width"] == pytest.approx(at["50"])
    assert "clean" not in words(chart)
    assert {"1/2 50 %", "—"} <= set(words(chart))
