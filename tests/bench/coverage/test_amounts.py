import numpy as np
from bench.coverage import amounts


def test_the_median_of_a_heavy_tail_is_covered() -> None:
    rng = np.random.default_rng(1)
    tail = amounts.HEAVY["Pareto, exponent 2.5"]
    _, middle = amounts.amount_coverage(rng, tail, 60, 10, 1)
    assert middle >= 0.9
    assert amounts.ratio_coverage(rng, tail, 60, 10, 1) >= 0.9
