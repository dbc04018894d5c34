"""Converts a model's text to a chat message with tool calls.

Hermes and Qwen models write ``<tool_call>{"name": …, "arguments": {…}}</tool_call>``.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from warex.exports.rows import ChatMessage

MARK: Final = "<tool_call>"
_CALL: Final = re.compile(r"<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|\Z)", re.DOTALL)


def message_of(text: str) -> ChatMessage:
    """Return a text as the assistant's message; incomplete calls stay text."""
    calls = list(_calls(text))
    if not calls:
        return {"role": "assistant", "content": text.strip()}
    content = text[: text.index(MARK)].strip()
    return {"role": "assistant", "content": content, "tool_calls": calls}


def _calls(text: str) -> Iterator[dict[str, Any]]:
    for number, match in enumerate(_CALL.finditer(text)):
        try:
            call = json.loads(match[1])
        except ValueError:
            continue
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            continue
        arguments = call.get("arguments", {})
        written = (
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        )
        function = {"name": call["name"], "arguments": written}
        yield {"id": f"call_{number}", "type": "function", "function": function}
