"""Finds data on both sides of a split, which would make a test measure memory.

Near-duplicates are found by MinHash (Broder 1997) over runs of five words without digits, then
compared whole: Jaccard similarity of at least 0.9.
"""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from warex.errors import InputError
from warex.exports.chat import message_texts
from warex.exports.names import LEAKS, SIDES, Leak, Side
from warex.exports.rows import RowMetadata

NEAR_DUPLICATE: Final = 0.9
_WORD: Final = re.compile(r"[^\W\d_]+")
_RUN: Final = 5
_BANDS, _WIDTH = 16, 4
"""Pairs with a similarity of 0.9 share a band in all but 10⁻⁷ of cases."""
_PRIME: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Leakage:
    """A value that is on two sides."""

    what: Leak
    sides: tuple[Side, Side]
    shown: str


def require_no_leaks(
    sides: Mapping[Side, Sequence[RowMetadata]], allowed: Sequence[Leak] = ()
) -> tuple[Leakage, ...]:
    """Return the allowed leaks; raise InputError for the first that is not allowed."""
    leaked = tuple(leaks(sides))
    for leak in leaked:
        if leak.what not in allowed:
            one, other = leak.sides
            help_ = (
                f"add --split {leak.what}"
                if leak.what != "observation"
                else "add --split page_family or --split group"
            )
            raise InputError(
                f"{_SHOWN[leak.what]} {leak.shown} is in {one} and in {other}, so that the"
                f" test would measure memory: {help_}, or accept it with --allow-leak {leak.what}"
            )
    return leaked


_SHOWN: Final[Mapping[Leak, str]] = {
    "site": "the site",
    "task": "the task",
    "page_family": "the family of error pages",
    "observation": "nearly the same observation",
}


def leaks(sides: Mapping[Side, Sequence[RowMetadata]]) -> Iterator[Leakage]:
    """Yield the first leak of each kind and pair of sides, and every family of error pages."""
    pairs = [(one, other) for at, one in enumerate(SIDES) for other in SIDES[at + 1 :]]
    for what in LEAKS:
        for one, other in pairs:
            some, others = sides.get(one, ()), sides.get(other, ())
            if what == "observation":
                pair = _first_duplicate(some, others)
                both = [] if pair is None else [pair]
            else:
                both = sorted(_values(some, what) & _values(others, what))
            for shown in both if what == "page_family" else both[:1]:
                yield Leakage(what, (one, other), shown)


def _values(rows: Sequence[RowMetadata], what: str) -> set[str]:
    return {str(getattr(row, what)) for row in rows} - {""}


def _first_duplicate(some: Sequence[RowMetadata], others: Sequence[RowMetadata]) -> str | None:
    """Return the ids of the first pair of rows with near-duplicate observations, or None."""
    if not some or not others:
        return None
    runs = [_runs(row) for row in some]
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for place, shingles in enumerate(runs):
        for band in _signature(shingles):
            buckets[band].append(place)
    for row in others:
        shingles = _runs(row)
        near = sorted({place for band in _signature(shingles) for place in buckets.get(band, ())})
        for place in near:
            if len(runs[place] & shingles) / len(runs[place] | shingles) >= NEAR_DUPLICATE:
                return f"({some[place].id}, {row.id})"
    return None


def observation(row: RowMetadata) -> str:
    """Return the text of the prompt's last message that has any."""
    messages: list[dict[str, Any]] = getattr(row, "prompt")  # noqa: B009 - of every kind of row
    shown = ["\n".join(message_texts([message])) for message in messages]
    return next((text for text in reversed(shown) if text), "")


def _runs(row: RowMetadata) -> frozenset[int]:
    words = _WORD.findall(observation(row).lower())
    last = max(1, len(words) - _RUN + 1)
    return frozenset(zlib.crc32(" ".join(words[at : at + _RUN]).encode()) for at in range(last))


def _signature(runs: frozenset[int]) -> list[tuple[int, bytes]]:
    values = np.fromiter((run % _PRIME for run in runs), np.int64, len(runs))
    least = ((values[:, None] * _FACTORS + _TERMS) % _PRIME).min(axis=0)
    bands = least.astype(np.int32).reshape(_BANDS, _WIDTH)
    return [(at, band.tobytes()) for at, band in enumerate(bands)]


_KEYS: Final = np.random.default_rng(1997)
_FACTORS: Final = _KEYS.integers(1, _PRIME, _BANDS * _WIDTH, dtype=np.int64)
_TERMS: Final = _KEYS.integers(0, _PRIME, _BANDS * _WIDTH, dtype=np.int64)
