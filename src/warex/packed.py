"""Compact containers for data that is written often and read rarely."""

import pickle
import zlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator
from hashlib import blake2b
from typing import Final

_BLOCK: Final = 1024
"""Items that are kept uncompressed before they are packed together."""


class CompressedList[T]:
    """An append-only list; all but its newest items are compressed."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._newest: list[T] = []

    def append(self, item: T) -> None:
        """Append an item, which must be picklable."""
        self._newest.append(item)
        if len(self._newest) == _BLOCK:
            self._blocks.append(zlib.compress(pickle.dumps(self._newest)))
            self._newest = []

    def __len__(self) -> int:
        return _BLOCK * len(self._blocks) + len(self._newest)

    def __iter__(self) -> Iterator[T]:
        for block in self._blocks:
            yield from pickle.loads(zlib.decompress(block))
        yield from tuple(self._newest)


class CompressedCounter[T: Hashable]:
    """Counts items; an item's count may be split over several parts."""

    def __init__(self) -> None:
        self._newest: Counter[T] = Counter()
        self._older: CompressedList[tuple[T, int]] = CompressedList()

    def add(self, item: T) -> None:
        """Count an item once."""
        self._newest[item] += 1
        if len(self._newest) > _BLOCK:
            newest, self._newest = self._newest, Counter()
            for pair in newest.items():
                self._older.append(pair)

    def parts(self) -> Iterator[tuple[T, int]]:
        """Return items and counts; an item's total is the sum of its counts."""
        yield from self._older
        yield from tuple(self._newest.items())


class HashCounter:
    """A number, 0 by default, for each of many texts, in 16 bytes per text.

    Texts are identified by 64 bits of their hash: among a million texts, any two collide with a
    probability of 3 in 100 million.
    """

    def __init__(self) -> None:
        self._keys = array("Q")
        self._numbers = array("q")

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, text: str) -> int:
        key = _key(text)
        at = bisect_left(self._keys, key)
        return self._numbers[at] if at < len(self._keys) and self._keys[at] == key else 0

    def __setitem__(self, text: str, number: int) -> None:
        self.add(text, number - self[text])

    def add(self, text: str, number: int) -> int:
        """Add to a text's number; return the sum."""
        key, keys = _key(text), self._keys
        at = bisect_left(keys, key)
        if at == len(keys) or keys[at] != key:
            keys.insert(at, key)
            self._numbers.insert(at, 0)
        self._numbers[at] += number
        return self._numbers[at]

    def total(self) -> int:
        """Return the sum of all numbers."""
        return sum(self._numbers)


def _key(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest)
