from dataclasses import replace

import pytest

from tests.report.builders import shapes, words
from warex.report.charts.bars import ChartGroup, ChartRow, bars, whiskers
from warex.report.charts.plot import linear_axis
from warex.report.charts.svg import Style

PERCENT = linear_axis("%", 0, 1, lambda share: f"{100 * share:.0f}")


def _groups(*values: float | None) -> list[ChartGroup]:
    entries = tuple(ChartRow(f"c{n}", value, str(value)) for n, value in enumerate(values))
    return [ChartGroup("patient", entries)]


def test_a_bar_of_half_is_half_as_long_as_one_of_all() -> None:
    half, full = shapes(bars("b", "t", _groups(0.5, 1.0), PERCENT), "bar")

    assert half["width"] == pytest.approx(full["width"] / 2)
    assert half["x"] == full["x"]


def test_a_bar_ends_where_the_axis_says_its_value_is() -> None:
    chart = bars("b", "t", _groups(1.0), PERCENT)
    [bar] = shapes(chart, "bar")
    [hundred] = [s for s in shapes(chart, "faint") if s.words == "100"]

    assert bar["x"] + bar["width"] == pytest.approx(hundred["x"])


def test_what_is_not_known_has_no_bar_but_a_row() -> None:
    chart = bars("b", "t", _groups(None, 0.0), PERCENT)

    assert [bar["width"] for bar in shapes(chart, "bar")] == [0]
    assert {"c0", "None"} <= set(words(chart))


def test_negative_bars_are_left_of_zero() -> None:
    axis = linear_axis("points", -1, 1, str)
    down, up = shapes(bars("b", "t", _groups(-0.5, 0.5), axis), "bar")

    assert down["x"] + down["width"] == pytest.approx(up["x"])


def test_an_interval_reaches_from_its_low_to_its_high_end() -> None:
    entry = ChartRow("c", 0.5, "50 %", (0.25, 0.75))
    chart = whiskers("w", "t", [ChartGroup("patient", (entry,))], PERCENT)
    rod = shapes(chart, "rod")[0]
    at = {s.words: s["x"] for s in shapes(chart, "faint")}
    [mark] = shapes(chart, "fill-1")

    assert (rod["x1"], rod["x2"]) == (at["25"], at["75"])
    assert mark["cx"] == pytest.approx(at["50"])


def test_the_rest_of_a_whole_is_hatched() -> None:
    entry = ChartRow("c", 0.25, "1 of 4", total=1.0)
    part, rest = shapes(bars("b", "t", [ChartGroup("patient", (entry,))], PERCENT), "bar")

    assert rest["width"] == pytest.approx(3 * part["width"])
    assert rest["x"] == pytest.approx(part["x"] + part["width"])


def test_every_number_is_reported_in_words() -> None:
    assert bars("b", "t", _groups(0.5), PERCENT).description == "patient: c0 0.5."


def test_every_row_is_inside_the_figure() -> None:
    chart = bars("b", "t", _groups(*[0.5] * 40), PERCENT)

    for bar in shapes(chart, "bar"):
        assert 0 <= bar["y"] < bar["y"] + bar["height"] < chart.height
        assert 0 <= bar["x"] < bar["x"] + bar["width"] < chart.width


def test_the_key_explains_each_sign_that_is_drawn_and_no_other() -> None:
    plain = ChartRow("c", 0.25, "1 of 4")
    lines = ChartGroup(
        "patient", (replace(plain, interval=(0.1, 0.5)),), line_at=0.5, band=(0.1, 0.2)
    )
    hatched = [
        replace(plain, label=label, style=Style(1, hatched=True))
        for label in ("no-proxy", "c+hint")
    ]
    without, defended = (ChartGroup("patient", (entry,)) for entry in hatched)

    def key(*groups: ChartGroup) -> str:
        return bars("b", "t", groups, PERCENT).legend

    assert key(ChartGroup("patient", (plain,), band=(0.2, 0.2))) == ""
    assert key(ChartGroup("patient", (replace(plain, total=0.25),))) == ""
    assert key(ChartGroup("patient", (replace(plain, total=1.0),))) == "Hatched: missed."
    assert key(without) == "Hatched: without the proxy."
    assert key(without, defended) == "Hatched: without the proxy, or with a defence."
    assert whiskers("w", "t", [without], PERCENT).legend == "Hollow: without the proxy."
    assert key(lines) == (
        "Lines: 95 % intervals. Dashed: clean. Grey band: how far clean differs from clean."
    )
