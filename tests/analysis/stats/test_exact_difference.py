from itertools import product
from math import comb

import pytest

from warex.analysis.stats.exact_difference import exact_difference_p
from warex.analysis.stats.paired import paired_difference


def chance(pairs: int, lost: int, won: int, lose: float, win: float) -> float:
    ways = comb(pairs, lost) * comb(pairs - lost, won)
    return ways * lose**lost * win**won * (1 - lose - win) ** (pairs - lost - won)


@pytest.mark.parametrize("bound", [-0.1, -0.3, 0.0, 0.2])
@pytest.mark.parametrize("pairs", [3, 7])
def test_the_exact_test_keeps_its_level_for_every_win_probability(pairs: int, bound: float) -> None:
    outcomes = [
        (lost, won) for lost, won in product(range(pairs + 1), repeat=2) if lost + won <= pairs
    ]
    ps = {it: exact_difference_p(*it, pairs, bound) for it in outcomes}

    for level in (0.05, 0.05 / 4, 0.2):
        for share in (0.0, 0.05, 0.2, 0.5, 0.8, 1.0):
            least, most = max(0.0, bound), (1 + bound) / 2
            win = least + share * (most - least)
            broken = sum(chance(pairs, *it, win - bound, win) for it, p in ps.items() if p < level)
            assert broken <= level + 1e-3


def test_p_of_all_pairs_lost_is_its_greatest_probability() -> None:
    # A pair is lost with a chance of at most three in four if the difference is -0.5.
    assert exact_difference_p(3, 0, 3, -0.5) == pytest.approx(0.75**3)


def test_p_falls_with_the_distance_below_the_bound() -> None:
    ps = [exact_difference_p(lost, 1, 20, -0.1) for lost in range(3, 15)]

    assert ps == sorted(ps, reverse=True)
    assert ps[0] > 0.3
    assert ps[-1] < 0.002


def test_p_exceeds_one_half_if_the_bound_is_reached() -> None:
    for lost, won in ((0, 0), (1, 0), (2, 1), (0, 5)):
        assert exact_difference_p(lost, won, 10, -0.1) > 0.5


def of_pairs(both: int, lost: int, won: int, neither: int) -> float:
    kinds = [(True, True)] * both + [(False, True)] * lost
    kinds += [(True, False)] * won + [(False, False)] * neither
    delta = paired_difference([(("b", str(n)), *kind) for n, kind in enumerate(kinds)])
    assert delta is not None
    p = delta.bound_p(-0.1, at_least=True)
    assert p is not None
    return p


def test_a_gate_at_its_true_value_breaks_at_most_once_in_twenty() -> None:
    # Half of the tasks rise from 20 to 60 %, half fall from 90 to 30 %: by 10 points together.
    pairs, shares = 10, (0.195, 0.355, 0.255, 0.195)
    broken = 0.0
    for both, lost, won in product(range(pairs + 1), repeat=3):
        neither = pairs - both - lost - won
        if neither < 0 or won - lost >= -1:
            continue
        if of_pairs(both, lost, won, neither) < 0.05 / 4:
            weight = (
                float(comb(pairs, both)) * comb(pairs - both, lost) * comb(pairs - both - lost, won)
            )
            counts = (both, lost, won, neither)
            for share, count in zip(shares, counts, strict=True):
                weight *= share**count
            broken += weight

    assert 0 < 1 - (1 - broken) ** 4 <= 0.05
