"""Bounds for what is recorded of calls: images apart, text of limited length."""

import base64
import binascii
import hashlib
import sys
from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from warex.text.first_words import first_words

MOST_TEXT: Final = 256 * 1024
"""Characters kept of one call's arguments, and of its result."""
_MOST_ITEMS: Final = 10_000
"""Members and items that are kept, which take some 50 ms to redact."""
_DEEPEST: Final = 100


class _Room:
    """The characters and items that may still be kept."""

    def __init__(self, text: int) -> None:
        self.text, self.items = text, _MOST_ITEMS
        self.cut = False

    def take(self, text: str) -> str:
        if len(text) <= self.text:
            self.text -= len(text)
            return text
        shortened, self.text, self.cut = first_words(text, self.text), 0, True
        return f"{shortened}… ({len(text) - len(shortened):,} more characters)"


def truncated(value: JsonValue, most: int = MOST_TEXT) -> tuple[JsonValue, bool]:
    """Return JSON with at most ``most`` characters of text, and whether anything was cut."""
    room = _Room(most)
    return _shortened(value, room, _DEEPEST), room.cut


def first_items(value: JsonValue) -> tuple[JsonValue, bool]:
    """Return JSON with at most 10,000 members and items, and whether anything was cut."""
    return truncated(value, sys.maxsize)


def _shortened(value: JsonValue, room: _Room, levels: int) -> JsonValue:
    if isinstance(value, str):
        return room.take(value)
    if not isinstance(value, dict | list):
        return value
    if not levels or room.items <= 0:
        room.cut = True
        return None
    count = min(len(value), room.items)
    room.items -= count
    room.cut = room.cut or count < len(value)
    if isinstance(value, list):
        return [_shortened(item, room, levels - 1) for item in value[:count]]
    return {
        room.take(name): _shortened(item, room, levels - 1)
        for name, item in list(value.items())[:count]
    }


def detach_blobs(
    value: JsonValue, clean: Callable[[bytes], bytes]
) -> tuple[JsonValue, dict[str, bytes]]:
    """Return a copy of a result without its base64 data, and its images by their SHA-256 in hex.

    An image's ``data`` becomes ``blob:sha256/<hex>``; audio and files become their length.
    ``clean`` returns the bytes to keep of an image.
    """
    blobs: dict[str, bytes] = {}

    def detached(value: JsonValue, levels: int) -> JsonValue:
        if not levels or not isinstance(value, dict | list):
            return value
        if isinstance(value, list):
            return [detached(item, levels - 1) for item in value]
        return {
            name: _reference(value, name, item, blobs, clean)
            if isinstance(item, str)
            else detached(item, levels - 1)
            for name, item in value.items()
        }

    return detached(value, _DEEPEST), blobs


def _reference(
    part: dict[str, JsonValue],
    name: str,
    text: str,
    blobs: dict[str, bytes],
    clean: Callable[[bytes], bytes],
) -> str:
    kind = part.get("type")
    mime = str(part.get("mimeType", ""))
    if name == "data" and kind in ("image", "audio"):
        is_image = kind == "image"
    elif name == "blob" and "uri" in part:
        is_image = mime.startswith("image/")
    else:
        return text
    if is_image:
        try:
            cleaned = clean(base64.b64decode(text, validate=True))
        except (binascii.Error, ValueError):
            return text
        digest = hashlib.sha256(cleaned).hexdigest()
        blobs[digest] = cleaned
        return f"blob:sha256/{digest}"
    return f"{len(text):,} characters of base64"
