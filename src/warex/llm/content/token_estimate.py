"""Rough token counts, for answers whose API gave none."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from warex.llm.base import Image, LlmRequest, ToolCall

BYTES_PER_TOKEN = 4
"""English, HTML and code in the current tokenizers, within a quarter of it (``bench.tokens``)."""
TOKENS_PER_MESSAGE = 4
"""What the chat format adds to each message (OpenAI cookbook, "How to count tokens")."""

type ImagesOf = Callable[[Mapping[str, JsonValue]], Iterable[Image]]
"""How a family finds the images that an object in a message holds."""


def estimate_text(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text.encode("utf-8", errors="replace")) // BYTES_PER_TOKEN)


def estimate_input(request: LlmRequest, images: ImagesOf) -> int:
    """Return about how many tokens a request has, tools and images included."""
    messages = sum(TOKENS_PER_MESSAGE + _count(message, images) for message in request.messages)
    return messages + (estimate_text(json.dumps(request.tools)) if request.tools else 0)


def estimate_output(text: str, tool_calls: Sequence[ToolCall]) -> int:
    """Return about how many tokens an answer has."""
    return estimate_text(text) + sum(
        estimate_text(call.name) + estimate_text(call.arguments) for call in tool_calls
    )


def _count(value: JsonValue, images: ImagesOf) -> int:
    if isinstance(value, str):
        return estimate_text(value)
    if isinstance(value, list):
        return sum(_count(item, images) for item in value)
    if isinstance(value, dict):
        held = list(images(value))
        inside = {image.at[0] for image in held}
        rest = (item for key, item in value.items() if key not in inside)
        return sum(image.tokens for image in held) + sum(_count(item, images) for item in rest)
    return 0
