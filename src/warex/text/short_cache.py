"""A cache of what is computed from texts of others, which does not keep long ones."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final

LONGEST: Final = 4096
"""Characters of an argument whose result is kept: names and usual URLs are shorter."""


def cached_if_short[R](maxsize: int) -> Callable[[Callable[[str], R]], Callable[[str], R]]:
    """Keep the results of the last ``maxsize`` calls with short texts.

    ``lru_cache`` alone bounds how many are kept, but not their size.
    """

    def decorate(function: Callable[[str], R]) -> Callable[[str], R]:
        cached = lru_cache(maxsize)(function)

        @wraps(function)
        def call(text: str) -> R:
            return cached(text) if len(text) <= LONGEST else function(text)

        return call

    return decorate
