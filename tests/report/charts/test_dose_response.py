import pytest

from tests.report.builders import row, run, shapes, table, words
from warex.analysis.stats.dose_response import DosePoint, DoseSeries
from warex.analysis.stats.estimates import Rate
from warex.report.charts.dose_response import dose, dose_panels


def _series(agent: str, *hits: int, axis: str = "intensity") -> DoseSeries:
    points = tuple(
        DosePoint(2.0**place, f"slow x{2**place}", Rate(number, 4), None)
        for place, number in enumerate(hits)
    )
    return DoseSeries(agent, axis, "paper/slow", points, None, None)  # type: ignore[arg-type] # as listed


ROWS = row("clean"), row("clean", agent="hasty")


def test_each_dosed_fault_has_a_figure_with_a_line_for_each_agent() -> None:
    doses = (
        _series("patient", 4, 3, 2),
        _series("hasty", 4, 2, 0),
        _series("hasty", 4, 1, axis="frequency"),
    )
    first, second = dose_panels(run(*ROWS), table(*ROWS, doses=doses))

    assert len([s for s in shapes(first) if s.tag == "path"]) == 2
    assert {"patient", "hasty", "1", "2", "4"} <= set(words(first))
    assert "patient" not in words(second)
    full = dose(run(*ROWS), table(*ROWS, doses=doses))
    assert full is not None
    assert full.width > first.width


def test_doubling_is_one_step_to_the_right_and_less_success_is_lower() -> None:
    doses = (_series("patient", 4, 2, 0),)
    [chart] = dose_panels(run(*ROWS), table(*ROWS, doses=doses))
    one, two, four = [s for s in shapes(chart) if s.tag == "circle"]

    assert two["cx"] - one["cx"] == pytest.approx(four["cx"] - two["cx"])
    assert two["cy"] - one["cy"] == pytest.approx(four["cy"] - two["cy"])
    assert four["cy"] > one["cy"]


def test_two_lines_that_end_together_have_names_below_each_other() -> None:
    doses = (_series("patient", 4, 2), _series("hasty", 4, 2))
    [chart] = dose_panels(run(*ROWS), table(*ROWS, doses=doses))
    at = {s.words: s["y"] for s in shapes(chart) if s.words in ("patient", "hasty")}

    assert abs(at["patient"] - at["hasty"]) >= 13


def test_nothing_dosed_is_not_a_figure() -> None:
    assert dose(run(*ROWS), table(*ROWS)) is None
