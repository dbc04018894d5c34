"""Rough token counts, for answers whose API gave none."""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from warex.llm.base import LlmRequest, ToolCall
from warex.llm.loose import as_dict, as_text

BYTES_PER_TOKEN = 4
"""English prose and HTML in the current tokenizers, within about a quarter of it."""
TOKENS_PER_MESSAGE = 4
"""What the chat format adds to each message (OpenAI cookbook, "How to count tokens")."""
TOKENS_PER_IMAGE = 765
"""A screen of about 1024 x 1024 in high detail (OpenAI vision guide, GPT-4o)."""
TOKENS_PER_SMALL_IMAGE = 85
"""Any image in low detail."""


def estimate_text(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text.encode("utf-8", errors="replace")) // BYTES_PER_TOKEN)


def estimate_input(request: LlmRequest) -> int:
    """Return about how many tokens a request has, tools and images included."""
    messages = sum(TOKENS_PER_MESSAGE + _count(message) for message in request.messages)
    return messages + (estimate_text(json.dumps(request.tools)) if request.tools else 0)


def estimate_output(text: str, tool_calls: Sequence[ToolCall]) -> int:
    """Return about how many tokens an answer has."""
    return estimate_text(text) + sum(
        estimate_text(call.name) + estimate_text(call.arguments) for call in tool_calls
    )


def _count(value: JsonValue) -> int:
    if isinstance(value, str):
        return estimate_text(value)
    if isinstance(value, list):
        return sum(map(_count, value))
    if isinstance(value, dict):
        if "image_url" in value:
            detail = as_text(as_dict(value["image_url"]).get("detail"))
            return TOKENS_PER_SMALL_IMAGE if detail == "low" else TOKENS_PER_IMAGE
        return sum(map(_count, value.values()))
    return 0
