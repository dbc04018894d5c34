"""Bounds what the heads of a trial's messages take in its trace.

In HTTP/2 a byte of the wire can stand for a field of kilobytes that was sent before.
"""

from itertools import chain
from typing import Final

from warex.engine.http.heads import RequestHead, ResponseHead

USUAL: Final = 16 * 1024
"""Bytes of a head that are always recorded."""
LONG: Final = 4 * 1024 * 1024
"""Bytes of longer heads that are recorded in a trial."""


class RecordedHeads:
    """What of each head is recorded."""

    def __init__(self) -> None:
        self._left = LONG

    def fields(self, head: RequestHead | ResponseHead) -> tuple[list[tuple[str, str]], int]:
        """Return the fields that are recorded, and how many are left out."""
        fields = list(head.headers.pairs)
        if 0 < len(head.raw) <= USUAL:
            return fields, 0
        size = sum(map(len, chain.from_iterable(fields)))
        if size <= USUAL:
            return fields, 0
        if size <= self._left:
            self._left -= size
            return fields, 0
        recorded: list[tuple[str, str]] = []
        room = USUAL
        for name, value in fields:
            if len(name) + len(value) <= room:
                room -= len(name) + len(value)
                recorded.append((name, value))
        return recorded, len(fields) - len(recorded)
