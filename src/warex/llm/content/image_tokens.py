"""The size of an image, read from its header, and the tokens that vendors count for it."""

import base64
import binascii
from collections.abc import Callable
from math import ceil
from typing import Final

type Size = tuple[int, int]
"""Width and height, in pixels."""

_HEAD: Final = 1 << 16
"""Characters of base64 that are read: a JPEG's size comes after the camera's metadata."""
_SHORT_HEAD: Final = 64
"""Characters that have the size of all others."""
_LARGEST: Final = 1 << 16
_NO_SIZE: Final = (0xC4, 0xC8, 0xCC)
"""JPEG markers in the range of frame markers that begin no frame (ITU T.81, table B.1)."""


def image_size(data: str | None) -> Size | None:
    """Return the size of a PNG, JPEG, GIF or WebP in base64; None if unknown; raises nothing."""
    size = _size(_beginning(data or "", _SHORT_HEAD))
    if size is None:
        size = _size(_beginning(data or "", _HEAD))
    return size if size is not None and min(size) > 0 and max(size) < _LARGEST else None


def _beginning(data: str, characters: int) -> bytes:
    """Return the bytes in the first characters of base64; none if it is not base64."""
    text = data[:characters]
    try:
        return base64.b64decode(text[: len(text) // 4 * 4], validate=True)
    except (binascii.Error, ValueError):
        return b""


def _size(head: bytes) -> Size | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    if head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        return int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP" and len(head) >= 30:
        return _webp(head)
    return _jpeg(head) if head.startswith(b"\xff\xd8") else None


def _webp(head: bytes) -> Size | None:
    """Return the size in a WebP's first chunk (RFC 9649)."""
    match head[12:16]:
        case b"VP8X":
            wide, high = (int.from_bytes(head[at : at + 3], "little") for at in (24, 27))
            return wide + 1, high + 1
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            wide, high = (int.from_bytes(head[at : at + 2], "little") for at in (26, 28))
            return wide & 0x3FFF, high & 0x3FFF
        case _:
            return None


def _jpeg(head: bytes) -> Size | None:
    """Return the size in a JPEG's first frame."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4])
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_SIZE:
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        else:
            at += 2 + length
    return None


def image_tokens(data: str | None, count: Callable[[Size], int], otherwise: int) -> int:
    """Return the tokens of an image by its size; ``otherwise`` if that is unknown."""
    size = image_size(data)
    return otherwise if size is None else count(size)


def openai_image_tokens(size: Size) -> int:
    """Return GPT-4o's tokens of an image in high detail (OpenAI, "Images and vision").

    It is scaled to fit 2,048 pixels each way, then 768 on its shorter side; each tile has 170.
    """
    wide, high = size
    scale = min(1, 2_048 / max(wide, high))
    scale = min(scale, 768 / min(wide, high))
    return 85 + 170 * ceil(wide * scale / 512) * ceil(high * scale / 512)


def anthropic_image_tokens(size: Size) -> int:
    """Return Claude's tokens of an image (Anthropic, "Vision").

    It is scaled to fit 1,568 pixels each way; the maximum is about 1,600.
    """
    wide, high = size
    scale = min(1, 1_568 / max(wide, high))
    return min(1_600, ceil(wide * scale * high * scale / 750))


def gemini_image_tokens(size: Size) -> int:
    """Return Gemini's tokens of an image (Google, "Understand and count tokens").

    An image of at most 384 pixels each way is one tile. Others are scaled to fit 3,072 pixels each
    way, and a tile is as wide as two thirds of the shorter side, from 256 to 768 pixels.
    """
    if max(size) <= 384:
        return 258
    scale = min(1, 3_072 / max(size))
    wide, high = (side * scale for side in size)
    tile = min(768, max(256, int(min(wide, high) / 1.5)))
    return 258 * ceil(wide / tile) * ceil(high / tile)
