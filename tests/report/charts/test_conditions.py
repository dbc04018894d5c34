import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta, NoiseFloor
from warex.report.charts.conditions import delivery, delta, recovery, reloads, success


def test_each_condition_is_at_its_rate_with_a_line_at_clean() -> None:
    rows = row("clean", 3, 4), row("down", 1, 4), row("unscored", 0, 0)
    chart = success(run(*rows), table(*rows))
    at = {shape.words: shape["x"] for shape in shapes(chart, "faint")}
    marks = [shape["cx"] for shape in shapes(chart) if shape.tag == "circle"]
    [clean] = shapes(chart, "dash")

    assert marks == pytest.approx([at["75"], at["25"]])
    assert clean["x1"] == pytest.approx(at["75"])
    assert {"3/4 75 %", "1/4 25 %", "—"} <= set(words(chart))


def test_the_chart_shows_difference_p_and_noise_floor_per_condition() -> None:
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


def test_what_was_missed_is_the_hatched_rest_of_what_was_planned() -> None:
    rows = row("clean"), row("down", exposure=Rate(3, 4), planned=4, delivered=3)
    chart = delivery(run(*rows), table(*rows))
    done, missed = shapes(chart, "bar")

    assert done["width"] == pytest.approx(3 * missed["width"])
    assert "3 of 4" in words(chart)
    assert "clean" not in words(chart)
