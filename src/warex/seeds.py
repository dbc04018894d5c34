"""Randomness that a rerun repeats exactly.

A browser sends requests in parallel, so the order in which they reach the proxy differs from run
to run. Drawing from one random stream would therefore hit different requests each time. Instead a
draw is a pure function of what it is *about*: the seed, the rule and the request.

What a seed gives is part of the file formats: a change here changes every published result.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass


def _digest(about: tuple[str | int, ...]) -> int:
    # Each part carries its length, so that ("ab", "c") and ("a", "bc") are kept apart.
    key = "".join(f"{len(part)}:{part}" for part in map(str, about))
    # A URL's bytes that are not UTF-8 arrive as lone surrogates.
    encoded = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest())


def draw(seed: int, *about: str | int) -> float:
    """Return a number in [0, 1) that depends only on the arguments."""
    # 53 bits, all that a float in [0, 1) can hold: with more, the highest would round up to 1.
    return (_digest((seed, *about)) >> 11) / 2**53


def derive_seed(seed: int, *about: str | int) -> int:
    """Return a seed (32 bits) for a part of the work, dependent only on the arguments."""
    return _digest((seed, "derive", *about)) >> 32


@dataclass(frozen=True, slots=True)
class KeyedRng:
    """What a fault may draw from: keyed by the trial's seed and the rule."""

    seed: int
    rule: str

    def draw(self, *about: str | int) -> float:
        """Return a number in [0, 1) that depends only on the seed, the rule and the arguments."""
        return draw(self.seed, self.rule, "fault", *about)

    def choice[T](self, options: Sequence[T], *about: str | int) -> T:
        """Return one of the options, each as likely; the same arguments give the same one.

        Raises IndexError where there are no options.
        """
        return options[int(self.draw(*about) * len(options))]

    def hex_word(self, *about: str | int) -> str:
        """Return sixteen hexadecimal digits that depend on the same as a draw."""
        return f"{_digest((self.seed, self.rule, 'word', *about)):016x}"
