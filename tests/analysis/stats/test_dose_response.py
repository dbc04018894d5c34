import pytest

from tests.analysis.stats.test_paired import scored
from warex.analysis.stats.dose_response import Dose, DosePoint, dose_series
from warex.analysis.stats.estimates import Rate


def point(value: float, condition: str, hits: int) -> tuple[Dose, DosePoint]:
    return Dose("intensity", value, "slow"), DosePoint(value, condition, Rate(hits, 12), None)


def test_a_dose_series_has_a_trend() -> None:
    trials = {"x4": scored(3, 12), "x1": scored(9, 12), "x2": scored(6, 12)}
    standing = [point(4, "x4", 3), point(1, "x1", 9), point(2, "x2", 6)]

    (series,) = dose_series("patient", standing, trials)

    assert [p.condition for p in series.points] == ["x1", "x2", "x4"]
    assert series.slope == pytest.approx(-0.25)
    assert series.slope_p is not None
    # Of twelve tasks six fall, and three of those by half.
    assert series.slope_p < 0.05


def test_one_dose_is_not_a_series() -> None:
    assert dose_series("patient", [point(1, "a", 3), point(1, "b", 4)], {}) == []
