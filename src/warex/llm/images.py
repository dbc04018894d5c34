"""Images in messages, taken out so that a trace stores each once."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable

from pydantic import JsonValue

_DATA_URL = re.compile(r"data:(image/[^,]*);base64,", re.IGNORECASE)
_PLACES = ("url", "image_url")
"""Keys under which OpenAI's parts carry an image: a text that quotes a data URL stays."""


def detach_images(
    messages: list[JsonValue], clean: Callable[[bytes], bytes] = bytes
) -> tuple[list[JsonValue], dict[str, bytes]]:
    """Return the messages with references for images, and the images by SHA-256 in hex.

    A data URL becomes ``blob:sha256/<hex>`` with its ``media_type`` beside it. The messages given
    are left as they are; an image that is not valid base64 stays in place. ``clean`` returns what
    is to be kept of an image.
    """
    blobs: dict[str, bytes] = {}
    return [_detached(message, blobs, clean) for message in messages], blobs


def _detached(
    value: JsonValue, blobs: dict[str, bytes], clean: Callable[[bytes], bytes]
) -> JsonValue:
    if isinstance(value, list):
        return [_detached(item, blobs, clean) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, JsonValue] = {}
    for key, item in value.items():
        image = _image(item) if key in _PLACES and isinstance(item, str) else None
        if image is None:
            result[key] = _detached(item, blobs, clean)
        else:
            media_type, content = image[0], clean(image[1])
            digest = hashlib.sha256(content).hexdigest()
            blobs[digest] = content
            result |= {key: f"blob:sha256/{digest}", "media_type": media_type}
    return result


def _image(url: str) -> tuple[str, bytes] | None:
    head = _DATA_URL.match(url)
    if head is None:
        return None
    try:
        return head[1], base64.b64decode(url[head.end() :], validate=True)
    except (binascii.Error, ValueError):
        return None
