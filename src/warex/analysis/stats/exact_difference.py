"""An exact test of a difference of paired proportions against a bound."""

from functools import cache
from math import lgamma
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy.typing as npt

    type _Numbers = npt.NDArray[Any]

MOST_PAIRS: Final = 200
"""With more pairs the level of an interval by approximation holds, too."""
_STEPS: Final = 200
"""Values that are tried of the probability that a pair is won."""
_EPSILON: Final = 1e-9


@cache
def exact_difference_p(lost: int, won: int, pairs: int, bound: float) -> float:
    """Return the one-sided p of the hypothesis that (won - lost) / pairs is at least ``bound``.

    It is the greatest probability, over all chances of winning a pair with which the difference is
    the bound, of an outcome that is at least as far below it by Tango's score (1998): the exact
    unconditional test, whose level holds for every number of pairs.
    """
    import numpy as np

    counts = np.arange(pairs + 1)
    losses, wins = (grid.ravel() for grid in np.meshgrid(counts, counts, indexing="ij"))
    possible = losses + wins <= pairs
    losses, wins = losses[possible], wins[possible]
    seen = _score(np.array([lost]), np.array([won]), pairs, bound)[0]
    far = _score(losses, wins, pairs, bound) <= seen + _EPSILON
    losses, wins = losses[far], wins[far]
    logs = np.array([lgamma(count + 1) for count in counts])
    ways = logs[pairs] - logs[losses] - logs[wins] - logs[pairs - losses - wins]
    return min(
        1.0,
        max(
            float(
                np.exp(
                    ways
                    + _log_power(win, wins)
                    + _log_power(win - bound, losses)
                    + _log_power(1 + bound - 2 * win, pairs - losses - wins)
                ).sum()
            )
            for win in np.linspace(max(0.0, bound), (1 + bound) / 2, _STEPS)
        ),
    )


def _score(losses: "_Numbers", wins: "_Numbers", pairs: int, bound: float) -> "_Numbers":
    """Return how far outcomes are from the bound, in standard errors under it."""
    import numpy as np

    b = -wins - losses + (2 * pairs - wins + losses) * bound
    c = -losses * bound * (1 - bound)
    lose = (np.sqrt(b * b - 8 * pairs * c) - b) / (4 * pairs)
    variance = pairs * (2 * lose + bound * (1 - bound))
    off = wins - losses - pairs * bound
    return off / np.sqrt(np.maximum(variance, _EPSILON))


def _log_power(base: float, exponents: "_Numbers") -> "_Numbers":
    import numpy as np

    logs: _Numbers = exponents * np.log(base) if base > 0 else np.where(exponents > 0, -np.inf, 0.0)
    return logs
