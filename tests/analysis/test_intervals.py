import pytest

from warex.analysis.intervals import Rate, wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe 1998, table I, method 3 (score without continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_wilson_interval_gives_the_published_numbers(
    hits: int, n: int, low: float, high: float
) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)


def test_of_no_trials_nothing_is_known() -> None:
    assert Rate(0, 0).value is None
    assert Rate(0, 0).interval == (0.0, 1.0)
