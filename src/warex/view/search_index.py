"""What a search looks into, for pages that have no server: each distinct text once, compressed."""

import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

from warex.clock import Clock
from warex.view.run_document import Attempt
from warex.view.search import MOST_BYTES, OutOfLimits, Reading, searched_texts

_LARGEST_INDEX: Final = 1 << 26
"""Characters of the compressed texts of a run."""
_MOST_TEXT: Final = 1 << 30
"""Bytes of the distinct texts of a run: what a browser decompresses for a search."""
_PART: Final = 1 << 22
"""Characters of a part, unless a single text has more."""


def search_index(
    attempts: Sequence[Attempt],
    *,
    largest: int = _LARGEST_INDEX,
    most_text: int = _MOST_TEXT,
) -> tuple[dict[str, Any], list[list[str]]]:
    """Return the head of an index and its parts.

    A part is a list of texts in ASCII lower case, each compressed by zlib, in base64. The head has
    ``trials``, their ids; ``holders``, for each text of all parts the positions of the trials that
    have it; ``parts``, how many there are; and ``note``, which says what did not fit.
    """
    position = {attempt.id: number for number, attempt in enumerate(attempts)}
    parts: list[list[str]] = []
    holders: list[list[int]] = []
    known: dict[bytes, list[int]] = {}
    note = ""
    room, in_part = largest, 0
    hashed, compressed = Reading(Clock(), MOST_BYTES), Reading(Clock(), most_text)
    for searched in searched_texts(attempts):
        try:
            digest = _digest(searched.pieces(hashed))
            if digest is None:
                continue
            if digest not in known:
                packed = _packed(searched.pieces(compressed), room)
                room -= len(packed)
                if not parts or in_part + len(packed) > _PART:
                    parts.append([])
                    in_part = 0
                in_part += len(packed)
                parts[-1].append(packed)
                known[digest] = []
                holders.append(known[digest])
        except OutOfLimits:
            note = (
                f"The search index of this folder is full: it holds {searched.before}."
                " `warex view` searches the rest."
            )
            break
        if known[digest][-1:] != [position[searched.trial]]:
            known[digest].append(position[searched.trial])
    head = {
        "trials": [attempt.id for attempt in attempts],
        "holders": holders,
        "parts": len(parts),
        "note": note,
    }
    return head, parts


def _digest(pieces: Iterator[bytes]) -> bytes | None:
    """Return the hash of a text; None for one without bytes."""
    digest = None
    for piece in pieces:
        digest = digest or sha256()
        digest.update(piece)
    return digest.digest() if digest else None


def _packed(pieces: Iterator[bytes], room: int) -> str:
    """Return a text compressed, in base64. Raises OutOfLimits if that takes more than ``room``."""
    compressor = zlib.compressobj()
    packed = bytearray()
    for piece in pieces:
        packed += compressor.compress(piece)
        if len(packed) > room:
            raise OutOfLimits
    packed += compressor.flush()
    text = b64encode(packed).decode()
    if len(text) > room:
        raise OutOfLimits
    return text
