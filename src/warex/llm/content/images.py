"""Detaches images from messages, so that a trace stores each once."""

import binascii
import re
from collections.abc import Callable, Iterable, Iterator

from pydantic import JsonValue

from warex.llm.base import Image
from warex.llm.body.large_base64 import NOTHING_OMITTED, OmittedBase64
from warex.llm.body.lenient_json import as_list
from warex.llm.content.image_tokens import Size, image_tokens
from warex.llm.content.token_estimate import ImagesOf
from warex.text.lazy_pattern import lazy_re

_DATA_URL = lazy_re(r"data:(image/[^,]*);base64,", re.IGNORECASE)


def image_at(
    url: JsonValue,
    at: tuple[str | int, ...],
    tokens: int,
    count: Callable[[Size], int] | None = None,
) -> Iterator[Image]:
    """Yield the image at ``at``: a data URL (RFC 2397), or another URL.

    ``count`` maps its size to its tokens; ``tokens`` is used if the size is unknown.
    """
    if not isinstance(url, str):
        return
    head = _DATA_URL.match(url)
    if head is None:
        yield Image(at, tokens)
    else:
        data = url[head.end() :]
        if count is not None:
            tokens = image_tokens(data, count, tokens)
        yield Image(at, tokens, head[1], data)


def iter_images(value: JsonValue, images: ImagesOf) -> Iterator[Image]:
    """Yield all images in a value."""
    within: Iterable[JsonValue] = value if isinstance(value, list) else ()
    if isinstance(value, dict):
        own_images = list(images(value))
        yield from own_images
        image_keys = {image.at[0] for image in own_images}
        within = [item for key, item in value.items() if key not in image_keys]
    for item in within:
        yield from iter_images(item, images)


def detach_images(
    messages: list[JsonValue],
    images: ImagesOf,
    keep: Callable[[bytes], str],
    left_out: OmittedBase64 = NOTHING_OMITTED,
) -> list[JsonValue]:
    """Return a copy of the messages with references for images.

    An image becomes ``blob:`` and the reference that ``keep`` returns, with its ``media_type``
    beside it; invalid base64 stays. ``left_out`` holds the images replaced by placeholders.
    """

    def detached(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [detached(item) for item in value]
        if not isinstance(value, dict):
            return value
        own_images = list(images(value))
        result = {key: detached(item) for key, item in value.items()}
        for image in own_images:
            # One at a time, to save memory.
            if (content := _decoded(image, left_out)) is not None:
                _put(result, image, f"blob:{keep(content)}")
        return result

    detached_messages = [detached(message) for message in messages]
    return as_list(left_out.put_back(detached_messages)) if left_out else detached_messages


def _put(part: dict[str, JsonValue], image: Image, reference: str) -> None:
    """Replace the image in ``part`` by a reference."""
    holder: JsonValue = part
    for step in image.at[:-1]:
        holder = holder[step]  # type: ignore[index]
    holder[image.at[-1]] = reference  # type: ignore[index]
    if isinstance(holder, dict) and image.media_type:
        holder["media_type"] = image.media_type


def _decoded(image: Image, left_out: OmittedBase64) -> bytes | None:
    if image.data is None:
        return None
    try:
        return binascii.a2b_base64(left_out.texts.get(image.data, image.data), strict_mode=True)
    except ValueError:
        return None
