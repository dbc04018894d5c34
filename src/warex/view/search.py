"""Looks for a text in the traces, outcomes and recorded bodies of trials, within limits."""

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from warex.clock import Clock
from warex.files.reading import open_regular_file
from warex.traces.paths import BLOBS, EVENTS, OUTCOME
from warex.view.media import media_type
from warex.view.run_document import Attempt

MOST_BYTES: Final = 1 << 32
MOST_SECONDS: Final = 10.0
_PIECE: Final = 1 << 20


class OutOfLimits(Exception):
    """A search has read all that it may, or for as long as it may."""


class Reading:
    """What a search may read, and has read."""

    def __init__(self, clock: Clock, most_bytes: int, most_seconds: float = math.inf) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._end = clock.now() + most_seconds
        self.size = 0

    def pieces(self, path: Path | str) -> Iterator[bytes]:
        """Yield a file in pieces; nothing of one that cannot be read. Raises OutOfLimits."""
        try:
            with open_regular_file(path, follow=False, buffer=0) as file:
                while True:
                    if self.size >= self._most_bytes or self._clock.now() >= self._end:
                        raise OutOfLimits
                    piece = file.read(min(_PIECE, self._most_bytes - self.size))
                    if not piece:
                        return
                    self.size += len(piece)
                    yield piece
        except OSError:
            return


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A file that a search looks into."""

    trial: str
    """The id of the attempt."""
    part: Literal["traces", "bodies"]
    path: str
    before: str
    """How far a search came before this text, in words."""

    def pieces(self, reading: Reading) -> Iterator[bytes]:
        """Yield the text in pieces in lower case; nothing of an image. Raises OutOfLimits.

        Only ASCII has a lower case here, since a text may be of any encoding.
        """
        pieces = reading.pieces(self.path)
        return map(bytes.lower, _but_images(pieces) if self.part == "bodies" else pieces)


def searched_texts(attempts: Sequence[Attempt]) -> Iterator[SearchedText]:
    """Yield what a search looks into: first all outcomes and traces, then recorded bodies."""
    count = f"of {len(attempts):,} trials"
    for done, attempt in enumerate(attempts):
        for name in (OUTCOME, EVENTS):
            path = f"{attempt.folder}/{name}"
            yield SearchedText(attempt.id, "traces", path, f"the traces of {done:,} {count}")
    for done, attempt in enumerate(attempts):
        before = f"all traces and the bodies of {done:,} {count}"
        for path in _blobs(attempt.folder):
            yield SearchedText(attempt.id, "bodies", path, before)


def search(
    attempts: Sequence[Attempt],
    text: str,
    *,
    clock: Clock | None = None,
    most_bytes: int = MOST_BYTES,
    most_seconds: float = MOST_SECONDS,
) -> dict[str, Any]:
    """Return the ids of the trials that hold a text, without regard to ASCII case, and a note.

    At the limits the search ends, and ``note`` says how far it came; it is empty otherwise.
    """
    # In a trace a text stands as in JSON, in a body of JSON or of another form perhaps as typed.
    # searchFolder in viewer/src/search.ts does the same.
    quoted = (json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (False, True))
    needles = {each.encode(errors="replace").lower() for each in (text, *quoted)}
    reading = Reading(clock or Clock(), most_bytes, most_seconds)
    holding: set[str] = set()
    note = ""
    for searched in searched_texts(attempts):
        try:
            if searched.trial not in holding and _holds(searched.pieces(reading), needles):
                holding.add(searched.trial)
        except OutOfLimits:
            note = (
                f"The search ended after {reading.size / 1e6:,.0f} MB: it looked into"
                f" {searched.before}."
            )
            break
    return {"trials": [each.id for each in attempts if each.id in holding], "note": note}


def _holds(pieces: Iterable[bytes], needles: Iterable[bytes]) -> bool:
    """Whether one of the needles is in the pieces, also across two of them."""
    longest = max(map(len, needles))
    tail = b""
    for piece in pieces:
        text = tail + piece
        if any(needle in text for needle in needles):
            return True
        tail = text[len(text) - longest + 1 :] if longest > 1 else b""
    return False


def _but_images(pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = next(pieces, b"")
    if not media_type(first).startswith("image/"):
        yield first
        yield from pieces


def _blobs(attempt: str) -> Iterator[str]:
    """Yield the files of an attempt's blobs."""
    try:
        with os.scandir(f"{attempt}/{BLOBS}/sha256") as entries:
            for entry in entries:
                yield entry.path
    except OSError:
        return
