"""Requests and answers on the wire, in the form of whichever API of models a client speaks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from warex.agents.scripted_model.persona import PERSONAS, Persona
from warex.agents.scripted_model.playbook import ScriptedAnswer
from warex.agents.scripted_model.reading import text
from warex.llm import could_be_llm, recognise, write_answer
from warex.llm.base import LlmAnswer, LlmRequest, SerializedAnswer, ToolCall, Usage
from warex.llm.body.lenient_json import parse_json
from warex.llm.content.images import iter_images
from warex.llm.families import family_named

MODELS: dict[str, Persona] = {f"scripted:{persona}": persona for persona in PERSONAS}

CHARACTERS_PER_TOKEN = 4

TOKENS_PER_IMAGE = 85
"""What one picture counts, whatever its size."""

NOT_FOUND: Final = "model_not_found"
"""OpenAI's code for a model that is not served."""


class BadRequest(Exception):
    """A request is answered with an error in OpenAI's shape."""

    def __init__(self, status: int, message: str, code: str | None = None) -> None:
        """Take the HTTP status, a sentence, and OpenAI's error code where it has one."""
        super().__init__(message)
        self.status = status
        self.body = {
            "error": {
                "message": message,
                "type": "invalid_request_error",
                "param": "model" if code == NOT_FOUND else None,
                "code": code,
            }
        }


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """One request, checked."""

    request: LlmRequest
    persona: Persona | None
    """None for a playbook, which answers to any name."""
    messages: tuple[dict[str, Any], ...]

    @property
    def id(self) -> str:
        """Equal for equal bodies."""
        return self.request.body_digest


def parse_request(path: str, body: bytes, *, any_model: bool = False) -> ApiRequest:
    """Read a POST to a path (with or without query); ``any_model`` takes every name.

    Raises BadRequest: 404 for an unknown path or model, 400 if it is not JSON or no request of that
    API.
    """
    if not could_be_llm("POST", path):
        raise BadRequest(404, f"There is no POST {path.partition('?')[0]}.")
    try:
        data = parse_json(body)
    except ValueError:
        raise BadRequest(400, "The body of the request is not valid JSON.") from None
    if not isinstance(data, dict):
        raise BadRequest(400, "The body of the request is not a JSON object.")
    request = recognise("POST", path, "", body)
    if request is None:
        raise BadRequest(400, _describe_failure(data))
    messages = tuple(message for message in request.messages if isinstance(message, dict))
    if not any_model and request.model not in MODELS:
        served = ", ".join(MODELS)
        raise BadRequest(
            404, f"The model {request.model!r} does not exist; there are {served}.", NOT_FOUND
        )
    if not messages:
        raise BadRequest(400, "'messages' is missing or empty.")
    return ApiRequest(request, None if any_model else MODELS[request.model], messages)


def _describe_failure(data: Mapping[str, JsonValue]) -> str:
    messages = data.get("messages", data.get("input", data.get("contents")))
    if not isinstance(data.get("model", ""), str):
        return "'model' is missing or not a text."
    if not messages:
        return "'messages' is missing or empty."
    if isinstance(messages, list) and not all(isinstance(each, dict) for each in messages):
        return "'messages' holds something that is not an object."
    return "The body is not a request of the API that the path belongs to."


def models(names: Sequence[str] = tuple(MODELS)) -> dict[str, Any]:
    """Return the list of models."""
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": 0, "owned_by": "scripted"} for name in names
        ],
    }


def serialize_answer(asked: ApiRequest, scripted: ScriptedAnswer) -> SerializedAnswer:
    """Return an answer as the request's API sends it, streamed if that was asked for."""
    calls: tuple[ToolCall, ...] = ()
    if scripted.tool is not None:
        calls = (ToolCall(f"call_{asked.id[:24]}", scripted.tool, scripted.arguments),)
    answer = LlmAnswer(
        model=asked.request.model,
        text=scripted.text,
        tool_calls=calls,
        finish="tool_calls" if calls else "stop",
        usage=usage(asked.request.api, asked.request.messages, scripted.all_text),
        complete=True,
    )
    return write_answer(asked.request, answer)


def usage(api: str, messages: Sequence[JsonValue], reply: str) -> Usage:
    """Count tokens: a quarter of each message's characters, rounded up, and 85 per picture.

    ``api`` is the name of the family whose messages they are.
    """
    images = family_named(api).images
    asked = sum(
        _tokens(text(message)) + TOKENS_PER_IMAGE * sum(1 for _ in iter_images(message, images))
        for message in messages
        if isinstance(message, dict)
    )
    return Usage(asked, _tokens(reply))


def _tokens(content: str) -> int:
    return math.ceil(len(content) / CHARACTERS_PER_TOKEN)
