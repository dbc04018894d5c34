"""Random choices that a rerun repeats exactly.

A browser sends requests in parallel, so their order at the proxy differs between runs, and a single
random stream would hit different requests each time. A draw is therefore a pure function of its
subject: the seed, the rule and the request.

The values are part of the file formats: a change here changes every published result.
"""

import hashlib
from collections.abc import Sequence

from msgspec import Struct


def _digest(about: tuple[str | int, ...]) -> int:
    # Each part has its length as a prefix, so that ("ab", "c") and ("a", "bc") differ.
    key = "".join(f"{len(part)}:{part}" for part in map(str, about))
    # A URL's bytes that are not UTF-8 arrive as lone surrogates.
    encoded = key.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest())


def draw(seed: int, *about: str | int) -> float:
    """Return a number in [0, 1) that depends only on the arguments."""
    # 53 bits are all that a float in [0, 1) can hold; with more, the highest rounds up to 1.
    return (_digest((seed, *about)) >> 11) / 2**53


def derive_seed(seed: int, *about: str | int) -> int:
    """Return a 32-bit seed that depends only on the arguments."""
    return _digest((seed, "derive", *about)) >> 32


class KeyedRng(Struct, frozen=True):
    """A fault's random source, keyed by the trial's seed and the rule."""

    seed: int
    rule: str

    def draw(self, *about: str | int) -> float:
        """Return a number in [0, 1) that depends only on the seed, the rule and the arguments."""
        return draw(self.seed, self.rule, "fault", *about)

    def choice[T](self, options: Sequence[T], *about: str | int) -> T:
        """Return one of the options, uniformly, by the arguments. Raises IndexError if empty."""
        return options[int(self.draw(*about) * len(options))]

    def hex_word(self, *about: str | int) -> str:
        """Return 16 hexadecimal digits that depend on the seed, the rule and the arguments."""
        return f"{_digest((self.seed, self.rule, 'word', *about)):016x}"
