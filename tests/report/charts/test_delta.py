import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.analysis.stats.paired import Delta, NoiseFloor
from warex.report.charts.delta import delta


def test_each_condition_stands_at_its_difference_with_its_p_before_the_noise_floor() -> None:
    down = Delta(-0.5, 10, (-1.0, -0.25), 0.001, 0.004, "mcnemar")
    rows = row("clean"), row("down", delta=down)
    floor = NoiseFloor(Delta(0.0, 10, (-0.25, 0.25)), 1, 10, "control")
    chart = delta(run(*rows), table(*rows, noise_floor=(("patient", floor),)))
    at = {shape.words: shape["x"] for shape in shapes(chart, "faint")}
    [mark] = [shape for shape in shapes(chart) if shape.tag == "circle"]
    [band] = shapes(chart, "band")

    assert mark["cx"] == pytest.approx(at["-50"])
    assert band["x"] == pytest.approx(at["-25"])
    assert band["x"] + band["width"] <= at["0"] + (at["0"] - at["-25"]) + 0.1
    assert "-50, p = 0.004" in words(chart)


def test_a_condition_without_pairs_is_not_drawn() -> None:
    rows = row("clean"), row("down")

    assert delta(run(*rows), table(*rows)).description == ""
