"""Trajectories of wanted answers in the Agent Data Protocol 1.2.0.

The standardized schema of arXiv:2510.24702. Each row is a trajectory whose last action is to be
learnt. An action is an ``api_action`` with the vocabulary's name and arguments and the surrounding
text as its description; an answer without one is a ``message_action``.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from warex.exports.chat import message_texts
from warex.exports.dataset_formats import LOAD_LINES, DatasetFormat, wanted_rows
from warex.exports.dataset_formats.atif import arguments_of
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer

VERSION: Final = "1.2.0"


def trajectory(row: Row, vocabulary: Vocabulary) -> dict[str, Any]:
    """Return a row as a trajectory."""
    files = iter(row.images)
    content: list[dict[str, Any]] = []
    for message in row.messages:
        if message["role"] == "assistant":
            content += _actions(message, vocabulary)
        else:
            content += _observations(message, files)
    facts = row.model_dump(mode="json", exclude={"messages", "tools", "images"})
    return {"schema_version": VERSION, "id": row.id, "content": content, "details": facts}


def _actions(message: ChatMessage, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
    text = "\n".join(message_texts([message])).strip()
    calls = message.get("tool_calls") or ()
    for call in calls:
        function = call.get("function") or {}
        yield _action(str(function.get("name")), arguments_of(function.get("arguments")), text)
    if calls:
        return
    acts = parse_actions(LlmAnswer("", text=text, complete=True), vocabulary)
    for act in acts:
        arguments = act.arguments
        named = (
            dict(arguments)
            if isinstance(arguments, Mapping)
            else {f"arg{at}": value for at, value in enumerate(arguments, 1)}
        )
        yield _action(act.name, named, text)
    if not acts:
        yield {"class_": "message_action", "content": text}


def _action(name: str, arguments: Mapping[str, Any], text: str) -> dict[str, Any]:
    action: dict[str, Any] = {"class_": "api_action", "function": name, "kwargs": dict(arguments)}
    return {**action, "description": text} if text else action


def _observations(message: ChatMessage, files: Iterator[str]) -> Iterator[dict[str, Any]]:
    source = "environment" if message["role"] == "tool" else "user"
    content = message.get("content") or ""
    for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
        if part.get("type") == "image":
            yield {"class_": "image_observation", "content": next(files, ""), "source": source}
        else:
            text = part.get("text", "")
            shown = text if isinstance(text, str) else json.dumps(text)
            yield {"class_": "text_observation", "content": shown, "source": source}


FORMAT: Final = DatasetFormat(
    columns="a standardized trajectory of the Agent Data Protocol each, of which the last action is"
    " to be learnt",
    snippet=LOAD_LINES,
    rows=wanted_rows,
    written=lambda row, vocabularies: trajectory(row, vocabularies[row.vocabulary]),
)
