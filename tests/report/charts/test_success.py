import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.report.charts.success import success


def test_each_condition_stands_at_its_rate_and_a_line_at_clean() -> None:
    rows = row("clean", 3, 4), row("down", 1, 4), row("unscored", 0, 0)
    chart = success(run(*rows), table(*rows))
    at = {shape.words: shape["x"] for shape in shapes(chart, "faint")}
    marks = [shape["cx"] for shape in shapes(chart) if shape.tag == "circle"]
    [clean] = shapes(chart, "dash")

    assert marks == pytest.approx([at["75"], at["25"]])
    assert clean["x1"] == pytest.approx(at["75"])
    assert {"3/4 75 %", "1/4 25 %", "—"} <= set(words(chart))
