"""What is written often and read seldom, kept in little memory."""

import pickle
import zlib
from collections import Counter
from collections.abc import Hashable, Iterator
from typing import Final

_BLOCK: Final = 1024
"""Items that are kept as they are, before they are packed together."""


class Packed[T]:
    """A list that only grows; all but its newest items are compressed."""

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._newest: list[T] = []

    def append(self, item: T) -> None:
        """Add an item; it must be one that can be pickled."""
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


class Tally[T: Hashable]:
    """Counts how often there was what; what is told of one item may come in several parts."""

    def __init__(self) -> None:
        self._newest: Counter[T] = Counter()
        self._older: Packed[tuple[T, int]] = Packed()

    def add(self, item: T) -> None:
        """Count an item once more."""
        self._newest[item] += 1
        if len(self._newest) > _BLOCK:
            newest, self._newest = self._newest, Counter()
            for pair in newest.items():
                self._older.append(pair)

    def parts(self) -> Iterator[tuple[T, int]]:
        """Return items and numbers; an item's count is the sum of its numbers."""
        yield from self._older
        yield from tuple(self._newest.items())
