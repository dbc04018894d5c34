"""Requests and answers of every API, and what WAREX is to read in them: one YAML file per family.

A vector has

- ``name``; ``path`` and ``request`` (JSON), or those of the vector before;
- ``asked``: fields of LlmRequest that must come out, if any;
- the answer: ``status`` (200), ``type`` (its content type) and one of ``whole`` (JSON), ``sse``
  (each event's data; a mapping is written as JSON), ``lines`` (NDJSON), ``array`` (Gemini's
  stream), ``messages`` (AWS's: ``{type: payload}``; a type
  that ends in ``Exception`` is one) or ``text`` (as it stands); ``cut`` takes so
  many bytes off its end;
- ``says``: fields of LlmAnswer; ``usage`` by its fields. What is not named must be at its default,
  except ``complete``, which is true, and ``model``, which is the request's.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.yaml_files import load_yaml
from warex.llm import LlmAnswer, LlmRequest, ToolCall, Usage, recognise
from warex.llm.families.writing import aws_message

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Vector:
    """One call."""

    family: str
    name: str
    path: str
    request: dict[str, Any]
    asked: dict[str, Any]
    status: int
    content_type: str
    body: bytes
    says: dict[str, Any]

    @property
    def sent(self) -> bytes:
        """The request's body."""
        return json.dumps(self.request).encode()

    def recognised(self) -> LlmRequest:
        """Return the request as WAREX reads it."""
        request = recognise("POST", self.path, "application/json", self.sent)
        assert request is not None, f"{self.family}: {self.name} is not recognised"
        return request

    def expected(self) -> LlmAnswer:
        """Return what the answer says."""
        answer: dict[str, Any] = {"model": self.recognised().model, "complete": True, **self.says}
        answer["tool_calls"] = tuple(ToolCall(**call) for call in answer.get("tool_calls", ()))
        if usage := answer.get("usage"):
            answer["usage"] = Usage(**usage)
        return LlmAnswer(**answer)


@cache
def vectors(family: str) -> tuple[Vector, ...]:
    """Return a family's vectors."""
    results: list[Vector] = []
    path = ""
    request: dict[str, Any] = {}
    for vector in load_yaml(HERE / f"{family}.yaml"):
        path, request = vector.pop("path", path), vector.pop("request", request)
        kind, body = _body(vector)
        results.append(
            Vector(
                family=family,
                name=vector.pop("name"),
                path=path,
                request=request,
                asked=vector.pop("asked", {}),
                status=vector.pop("status", 200),
                content_type=vector.pop("type", kind),
                body=body,
                says=vector.pop("says"),
            )
        )
        assert not vector, f"{family}.yaml: what is {sorted(vector)}?"
    return tuple(results)


def _body(vector: dict[str, Any]) -> tuple[str, bytes]:
    kind, body = "application/json", b""
    if (full := vector.pop("whole", None)) is not None:
        body = json.dumps(full).encode()
    elif (events := vector.pop("sse", None)) is not None:
        kind, body = "text/event-stream", "".join(map(_event, events)).encode()
    elif (lines := vector.pop("lines", None)) is not None:
        kind = "application/x-ndjson"
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    elif (array := vector.pop("array", None)) is not None:
        body = f"[{',\n'.join(map(json.dumps, array))}]".encode()
    elif (messages := vector.pop("messages", None)) is not None:
        kind = "application/vnd.amazon.eventstream"
        pairs = (pair for message in messages for pair in message.items())
        body = b"".join(aws_message(event, payload) for event, payload in pairs)
    elif (text := vector.pop("text", None)) is not None:
        kind, body = "text/html", text.encode()
    cut = vector.pop("cut", 0)
    return kind, body[: len(body) - cut]


def _event(data: Any) -> str:
    if isinstance(data, str):
        return f"data: {data}\n\n"
    name = f"event: {data['type']}\n" if isinstance(data.get("type"), str) else ""
    return f"{name}data: {json.dumps(data)}\n\n"
