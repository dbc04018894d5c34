"""Removes the thoughts from an agent's answers, both in a row's answer and in its prompt.

A scripted agent may write what no other agent can know: the length of the task's plan, and the
names of elements that the page does not show. A model that is trained on it learns to rely on it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer

_MARKED: Final = (
    re.compile(r"```.*?```", re.DOTALL),
    re.compile(r"<action>.*?</action>", re.DOTALL | re.IGNORECASE),
    re.compile(r"^[-*># \t]*action[ \t]*:.*", re.DOTALL | re.IGNORECASE | re.MULTILINE),
)
"""What harnesses look for: a block, a tag, a label with all that follows."""


def without_thought(answer: ChatMessage, vocabulary: Vocabulary) -> ChatMessage | None:
    """Return an answer's actions alone; None if its thought cannot be separated from them."""
    if answer.get("tool_calls"):
        return {**answer, "content": ""}
    text = "\n".join(message_texts([answer])).strip()
    actions = _actions(text, vocabulary)
    if not actions:
        return None
    alone = next((it for it in _parts(text) if _actions(it, vocabulary) == actions), None)
    return None if alone is None else {**answer, "content": alone}


def replace_texts(
    messages: Sequence[ChatMessage], replacements: Mapping[str, str]
) -> list[ChatMessage]:
    """Return messages in which each text is replaced by another, longer ones first."""
    if not replacements:
        return list(messages)
    longest_first = sorted(replacements, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, longest_first)))

    def replaced(text: str) -> str:
        return pattern.sub(lambda match: replacements[match[0]], text)

    return [_with_texts(message, replaced) for message in messages]


def _with_texts(message: ChatMessage, change: Any) -> ChatMessage:
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": change(content)}
    if isinstance(content, list):
        parts = [
            {**part, "text": change(part["text"])} if isinstance(part.get("text"), str) else part
            for part in content
        ]
        return {**message, "content": parts}
    return message


def _parts(text: str) -> Iterator[str]:
    """Yield parts of a text that may be its action: marked ones, lines from the last one, ends."""
    for pattern in _MARKED:
        yield from (it.strip() for it in reversed(pattern.findall(text)))
    lines = text.splitlines()
    yield from (line.strip() for line in reversed(lines) if line.strip())
    yield from ("\n".join(lines[at:]).strip() for at in range(len(lines) - 1, 0, -1))


def _actions(text: str, vocabulary: Vocabulary) -> Any:
    return parse_actions(LlmAnswer("", text=text, complete=True), vocabulary)
