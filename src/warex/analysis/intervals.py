"""How sure a rate is."""

from dataclasses import dataclass
from math import sqrt

Z95 = 1.959963984540054
"""Standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True)
class Rate:
    """``hits`` of ``n`` trials. Nothing of nothing is no rate: ``value`` is then None."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """The rate, 0 to 1; None where n is 0."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval."""
        return wilson(self.hits, self.n)

    def __str__(self) -> str:
        return f"{self.hits}/{self.n}"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with how sure it is."""

    value: float
    interval: tuple[float, float] | None
    """95 %, bootstrapped over tasks; None where there are fewer than two."""
    n: int
    """What it is the mean of: trials, pairs or injections."""


def wilson(hits: int, n: int, z: float = Z95) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927), each end within 0 to 1.

    Unlike the normal approximation it stays honest at 0 of n and n of n, which is where small
    campaigns end. Of no trials at all nothing is known: (0, 1).
    """
    if n == 0:
        return 0.0, 1.0
    p = hits / n
    centre = p + z * z / (2 * n)
    reach = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)
