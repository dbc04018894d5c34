import pytest

from tests.report.builders import mean, row, run, shapes, table, words
from warex.report.charts.tradeoff import tradeoff


def test_cost_runs_to_the_right_and_success_upwards() -> None:
    rows = row("clean", 4, 4, cost_usd=mean(0.02)), row("down", 2, 4, cost_usd=mean(0.04))
    chart = tradeoff(run(*rows), table(*rows))
    clean, down = [s for s in shapes(chart) if s.tag == "circle" and s["r"] == 5 and s["cy"]]
    at = {s.words: s for s in shapes(chart, "faint")}

    assert clean["cx"] == pytest.approx(at["0.02"]["x"])
    assert down["cx"] == pytest.approx(at["0.04"]["x"])
    assert clean["cy"] < down["cy"]
    assert clean["cy"] == pytest.approx(at["100"]["y"] - 4)


def test_what_has_no_known_cost_is_left_out() -> None:
    rows = row("no-proxy"), row("clean", cost_usd=mean(0.02))
    chart = tradeoff(run(*rows), table(*rows))

    assert "no-proxy" not in " ".join(words(chart))
    assert chart.description == "patient, clean: 1/2 50 % at $0.0200."


def test_marks_are_named_without_colour_and_no_name_covers_another() -> None:
    rows = [row(f"c{number}", cost_usd=mean(0.02)) for number in range(6)]
    chart = tradeoff(run(*rows), table(*rows))
    names = [s for s in shapes(chart, "faint") if s.words in set("123456")]
    places = {(s["x"], s["y"]) for s in names}

    assert len(places) == 6
    assert {"1", "c0", "6", "c5"} <= set(words(chart))
