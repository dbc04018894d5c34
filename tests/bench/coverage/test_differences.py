import numpy as np
from bench.coverage import differences


def test_a_simulated_run_is_judged_against_its_own_truth() -> None:
    rng = np.random.default_rng(1)
    collapse = next(one for one in differences.POPULATIONS if one.after == 0.25)
    found = differences.tally(rng, collapse, 20, 30, 1)
    assert (found.runs, found.shares, found.significant) == (20, 20, 20)
    assert found.change >= 16


def test_a_fall_of_ten_points_is_one() -> None:
    rng = np.random.default_rng(1)
    for draw in differences.FALLS.values():
        before, after = draw(rng, 100_000)
        assert abs(after.mean() - before.mean() + 0.1) < 0.005
