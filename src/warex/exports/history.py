"""Reads which actions a prompt's history holds."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from warex.exports.chat import message_texts
from warex.exports.prompt_page import read_prompt
from warex.exports.rows import ChatMessage
from warex.llm.actions.base import Action
from warex.llm.actions.parser import actions_on_lines, parse_actions, without_thoughts
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer, ToolCall

_HEADING: Final = re.compile(r"^##+ [^\n]*$", re.MULTILINE)
"""Stands above each step of a written history, as in BrowserGym."""
_NUMBER: Final = re.compile(r"^[ \t]*(?:step[ \t]*)?\d+[.:)][ \t]*", re.MULTILINE | re.IGNORECASE)


def has_reload(prompt: Sequence[ChatMessage], vocabulary: Vocabulary) -> bool:
    """Return whether the agent has asked for the very same page again (``retry``) before."""
    return any(act.name in vocabulary.retry for act in past_actions(prompt, vocabulary))


def past_actions(prompt: Sequence[ChatMessage], vocabulary: Vocabulary) -> Iterator[Action]:
    """Yield the actions in the history that a prompt writes, then those of earlier answers.

    A written history without headings is a list: each of its lines may be an action.
    """
    answers = [message for message in prompt if message.get("role") == "assistant"]
    others = [message for message in prompt if message.get("role") != "assistant"]
    written = read_prompt(others).history
    first, *steps = _HEADING.split(written)
    if steps:
        for step in (first, *steps):
            yield from parse_actions(LlmAnswer("", text=step, complete=True), vocabulary)
    else:
        yield from actions_on_lines(_NUMBER.sub("", without_thoughts(first)), vocabulary.names)
    for message in answers:
        text = "\n".join(message_texts([message]))
        calls = tuple(map(_tool_call, message.get("tool_calls") or ()))
        yield from parse_actions(
            LlmAnswer("", text=text, tool_calls=calls, complete=True), vocabulary
        )


def _tool_call(call: ChatMessage) -> ToolCall:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    return ToolCall(
        id=str(call.get("id") or ""),
        name=str(function.get("name")),
        arguments=arguments if isinstance(arguments, str) else "",
    )
