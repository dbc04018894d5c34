"""Estimates token counts for answers without them."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from warex.llm.base import Image, LlmRequest, ToolCall

BYTES_PER_TOKEN = 4
"""For English, HTML and code in current tokenizers, within a quarter (``bench.tokens``)."""
TOKENS_PER_MESSAGE = 4
"""The overhead of a message in the chat format (OpenAI cookbook, "How to count tokens")."""

type ImagesOf = Callable[[Mapping[str, JsonValue]], Iterable[Image]]
"""Finds the images in an object of a message."""


def estimate_text(text: str) -> int:
    """Estimate the tokens of a text."""
    return -(-len(text.encode("utf-8", errors="replace")) // BYTES_PER_TOKEN)


def estimate_input(request: LlmRequest, images: ImagesOf) -> int:
    """Estimate the tokens of a request, including tools and images."""
    messages = sum(TOKENS_PER_MESSAGE + _count(message, images) for message in request.messages)
    return messages + (estimate_text(json.dumps(request.tools)) if request.tools else 0)


def estimate_output(text: str, tool_calls: Sequence[ToolCall]) -> int:
    """Estimate the tokens of an answer."""
    return estimate_text(text) + sum(
        estimate_text(call.name) + estimate_text(call.arguments) for call in tool_calls
    )


def _count(value: JsonValue, images: ImagesOf) -> int:
    if isinstance(value, str):
        return estimate_text(value)
    if isinstance(value, list):
        return sum(_count(item, images) for item in value)
    if isinstance(value, dict):
        own_images = list(images(value))
        inside = {image.at[0] for image in own_images}
        rest = (item for key, item in value.items() if key not in inside)
        return sum(image.tokens for image in own_images) + sum(
            _count(item, images) for item in rest
        )
    return 0
