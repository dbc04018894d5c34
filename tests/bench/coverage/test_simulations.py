"""What the benchmark draws is what its tables say that it draws."""

import numpy as np
import pytest
from bench.coverage import amounts, differences, rates, runs

from warex.analysis.table.tabulate import tabulate


def test_the_median_of_a_heavy_tail_is_covered() -> None:
    rng = np.random.default_rng(1)
    tail = amounts.HEAVY["Pareto, exponent 2.5"]
    _, middle = amounts.amount_coverage(rng, tail, 60, 10, 1)
    assert middle >= 0.9
    assert amounts.ratio_coverage(rng, tail, 60, 10, 1) >= 0.9


@pytest.mark.parametrize("mean", rates.THRESHOLDS)
@pytest.mark.parametrize("name", rates.POPULATIONS)
def test_a_population_has_its_mean(name: str, mean: float) -> None:
    drawn = rates.POPULATIONS[name](np.random.default_rng(1), mean, 100_000)
    assert abs(drawn.mean() - mean) < 0.005


def test_a_simulated_void_costs_its_own_pair_only() -> None:
    rng = np.random.default_rng(1)
    run = runs.simulated_run(rng, {"agent": np.full(30, 0.9)}, 1, void=0.2)
    table = tabulate(run)
    assert all(0 < 30 - row.n < 15 for row in table.rows)
    assert len(table.left_out) == sum(30 - row.n for row in table.rows)
    lost = {pair for _, condition, pair in table.left_out if condition in ("clean", "one")}
    delta = table.row("agent", "one").delta
    assert delta is not None
    assert delta.pairs == 30 - len(lost)


def test_a_harmless_build_with_voids_is_not_broken() -> None:
    assert runs.harmless_breaks(np.random.default_rng(1), 5, 10, 1, 0.1) == (0, 0, 0)


def test_a_simulated_run_is_judged_against_its_own_truth() -> None:
    rng = np.random.default_rng(1)
    collapse = next(one for one in differences.POPULATIONS if one.after == 0.25)
    tally = differences.tally(rng, collapse, 20, 30, 1)
    assert (tally.runs, tally.shares, tally.significant) == (20, 20, 20)
    assert tally.change >= 16


def test_a_fall_of_ten_points_is_one() -> None:
    rng = np.random.default_rng(1)
    for draw in differences.FALLS.values():
        before, after = draw(rng, 100_000)
        assert abs(after.mean() - before.mean() + 0.1) < 0.005
