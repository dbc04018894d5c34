"""OpenAI's chat completions on the wire: a request's body in, an answer's objects out.

Formats: the OpenAI API reference for ``POST /v1/chat/completions`` and its server-sent events.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warex.agents.scripted_model.persona import PERSONAS, Persona
from warex.agents.scripted_model.playbook import Said
from warex.agents.scripted_model.reading import text

MODELS: dict[str, Persona] = {f"scripted:{persona}": persona for persona in PERSONAS}

CHARACTERS_PER_TOKEN = 4

TOKENS_PER_IMAGE = 85
"""What one picture counts, whatever its size."""

CREATED = 0
"""The time of every answer: the same request always gets the same bytes."""


class Refused(Exception):
    """A request is answered with an error in OpenAI's shape."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        """Take the HTTP status, a sentence, and OpenAI's error code where it has one."""
        super().__init__(message)
        self.status = status
        self.body = {
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": "model" if code == "model_not_found" else None,
                "code": code,
            }
        }


@dataclass(frozen=True, slots=True)
class Question:
    """One request, checked."""

    model: str
    persona: Persona | None
    """None for a playbook, which answers to any name."""
    messages: tuple[dict[str, Any], ...]
    stream: bool
    include_usage: bool
    id: str


def question(body: bytes, *, any_model: bool = False) -> Question:
    """Read the body of a request; ``any_model`` takes every name.

    Raises:
        Refused: 400 not JSON or not a chat request; 404 a model that is not served.
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "The body of the request is not valid JSON.") from None
    if not isinstance(data, dict):
        raise Refused(400, "The body of the request is not a JSON object.")
    name, messages = data.get("model"), data.get("messages")
    if not isinstance(name, str):
        raise Refused(400, "'model' is missing or not a text.")
    if name not in MODELS and not any_model:
        served = ", ".join(MODELS)
        raise Refused(
            404, f"The model {name!r} does not exist; there are {served}.", "model_not_found"
        )
    if not isinstance(messages, list) or not messages:
        raise Refused(400, "'messages' is missing or empty.")
    if not all(isinstance(message, dict) for message in messages):
        raise Refused(400, "'messages' holds something that is not an object.")
    options = data.get("stream_options")
    return Question(
        model=name,
        persona=None if any_model else MODELS[name],
        messages=tuple(messages),
        stream=data.get("stream") is True,
        include_usage=isinstance(options, dict) and options.get("include_usage") is True,
        id="chatcmpl-" + hashlib.sha256(body).hexdigest()[:24],
    )


def models(names: Sequence[str] = tuple(MODELS)) -> dict[str, Any]:
    """Return the list of models."""
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": CREATED, "owned_by": "scripted"}
            for name in names
        ],
    }


def usage(messages: Sequence[dict[str, Any]], reply: str) -> dict[str, int]:
    """Count tokens: a quarter of each message's characters, rounded up, and 85 per picture."""
    asked = sum(
        _tokens(text(message)) + TOKENS_PER_IMAGE * _images(message) for message in messages
    )
    answered = _tokens(reply)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }


def _tokens(said: str) -> int:
    return math.ceil(len(said) / CHARACTERS_PER_TOKEN)


def _images(message: dict[str, Any]) -> int:
    parts = message.get("content")
    if not isinstance(parts, list):
        return 0
    return sum(isinstance(part, dict) and part.get("type") == "image_url" for part in parts)


def completion(asked: Question, said: Said) -> dict[str, Any]:
    """Return the whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": said.text, "refusal": None}
    if said.tool is not None:
        message |= {"content": None, "tool_calls": [_call(asked, said)]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(said)}
    return {
        **_head(asked, "chat.completion"),
        "choices": [choice],
        "usage": usage(asked.messages, said.whole),
    }


def _call(asked: Question, said: Said) -> dict[str, Any]:
    function = {"name": said.tool, "arguments": said.arguments}
    return {"id": asked.id.replace("chatcmpl-", "call_"), "type": "function", "function": function}


def _finish(said: Said) -> str:
    return "stop" if said.tool is None else "tool_calls"


def chunks(asked: Question, said: Said) -> Iterator[dict[str, Any]]:
    """Yield the answer word by word; the last chunk has the usage if it was asked for."""
    head = _head(asked, "chat.completion.chunk")
    if asked.include_usage:
        head["usage"] = None
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\s*\S+|\s+$", said.text)]
    if said.tool is not None:
        deltas.append({"tool_calls": [{"index": 0, **_call(asked, said)}]})
    for delta in deltas:
        yield {**head, "choices": [_delta(delta, None)]}
    yield {**head, "choices": [_delta({}, _finish(said))]}
    if asked.include_usage:
        yield {**head, "choices": [], "usage": usage(asked.messages, said.whole)}


def _delta(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _head(asked: Question, kind: str) -> dict[str, Any]:
    return {"id": asked.id, "object": kind, "created": CREATED, "model": asked.model}
