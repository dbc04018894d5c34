"""Long base64 of binary data, such as a file in a message: no secret is looked for in it.

All of it looks random, so that redacting a megabyte of it takes seconds.
"""

import base64
import codecs
from collections.abc import Iterator
from typing import Final

from warex.text.lazy_pattern import lazy_re

LEAST: Final = 16 * 1024
"""Characters of such a run: tokens and keys are shorter."""
_SAMPLE: Final = 4096
_PIECE: Final = 64 * 1024
_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
_BEGUN: Final = lazy_re(rb"[A-Za-z0-9+/_-]{64}")


def binary_runs(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of long base64 (RFC 4648, both alphabets) that is not that of a text."""
    done = 0
    for at in range(0, len(text), LEAST):
        if at < done or _BEGUN.match(text, at) is None:
            continue
        begin, end = _begin(text, at, done), _end(text, at)
        if end - begin >= LEAST and _is_binary(text[begin : begin + _SAMPLE]):
            yield begin, end
        done = end


def _end(text: bytes, at: int) -> int:
    while at < len(text):
        piece = text[at : at + _PIECE]
        if others := piece.translate(None, _ALPHABET):
            return at + piece.index(others[:1])
        at += len(piece)
    return at


def _begin(text: bytes, at: int, least: int) -> int:
    piece = text[max(least, at - LEAST) : at]
    others = piece.translate(None, _ALPHABET)
    return at - len(piece) + (piece.rindex(others[-1:]) + 1 if others else 0)


def _is_binary(run: bytes) -> bool:
    altchars = b"-_" if b"-" in run or b"_" in run else None
    decoded = base64.b64decode(run[: len(run) // 4 * 4], altchars)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(decoded)
    except UnicodeDecodeError:
        return True
    return False
