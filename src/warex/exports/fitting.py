"""Shortens long prompts in their observation of the page."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage

_CUT: Final = "\n[…]\n"


def truncate_messages(
    messages: Sequence[ChatMessage], largest: int, needed: Sequence[str] = ()
) -> list[ChatMessage] | None:
    """Return messages of at most ``largest`` characters; the last one, the answer, stays whole.

    The middle of the prompt's longest text is cut. ``needed`` are texts of the answer's action such
    as an element's id. None if the cut removes one of them from the prompt, or if the other
    messages alone are too long.
    """
    *prompt, answer = messages
    whole = [_copy(message) for message in prompt]
    size = sum(map(len, message_texts(whole)))
    if size <= largest:
        return [*whole, answer]
    holder, key = max(_places(whole), key=lambda place: len(place[0][place[1]]))
    text: str = holder[key]
    room = largest - (size - len(text)) - len(_CUT)
    if room <= 0:
        return None
    head = room * 2 // 3
    holder[key] = text[:head] + _CUT + text[len(text) - (room - head) :]
    if any(word and word in text and word not in holder[key] for word in needed):
        return None
    return [*whole, answer]


def _copy(message: Mapping[str, Any]) -> ChatMessage:
    content = message.get("content")
    copied = [dict(part) for part in content] if isinstance(content, list) else content
    return {**message, "content": copied}


def _places(messages: Sequence[ChatMessage]) -> list[tuple[dict[str, Any], str]]:
    """Return the location of each text: the object that holds it, and the key."""
    found: list[tuple[dict[str, Any], str]] = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, str):
            found.append((message, "content"))
        elif isinstance(content, list):
            found += [(part, "text") for part in content if isinstance(part.get("text"), str)]
    return found
