"""What an LLM call on the wire says: which requests are calls, and what reads them."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace

from pydantic import JsonValue

from warex.llm.base import ApiErrorKind, LlmAnswer, LlmRequest, SerializedAnswer, ToolCall, Usage
from warex.llm.body.large_base64 import omit_base64
from warex.llm.body.lenient_json import as_dict, parse_json
from warex.llm.content.images import detach_images as _detach_images
from warex.llm.content.images import iter_images
from warex.llm.content.token_estimate import estimate_input
from warex.llm.families import LLM_APIS, LlmApi

_BY_NAME = {family.name: family for family in LLM_APIS}
_ENDINGS = tuple(ending for family in LLM_APIS for ending in family.path_endings)

__all__ = [
    "LLM_APIS",
    "LlmAnswer",
    "LlmApi",
    "LlmRequest",
    "ToolCall",
    "Usage",
    "could_be_llm",
    "detach_images",
    "read_answer",
    "recognise",
    "refuse",
    "told_wait",
    "tool_names",
    "usage_at_least",
    "with_system_text",
    "write_answer",
]


def could_be_llm(method: str, path: str) -> bool:
    """Tell in under 2 µs whether a request's body is worth keeping for ``recognise``."""
    return method == "POST" and path.partition("?")[0].endswith(_ENDINGS)


def recognise(method: str, path: str, content_type: str, body: bytes) -> LlmRequest | None:
    """Return the LLM call that a request is, or None.

    ``path`` may carry a query; ``body`` is decompressed. Its content type does not count: servers
    such as Ollama read JSON under any, and curl sends it as a form. Nothing is raised, whatever the
    body is.
    """
    if not could_be_llm(method, path):
        return None
    shorter, left_out = omit_base64(body)
    try:
        sent = parse_json(shorter)
    except ValueError:
        return None
    if not isinstance(sent, dict):
        return None
    shape = path.partition("?")[0]
    for family in LLM_APIS:
        if shape.endswith(family.path_endings) and family.recognise(path, sent):
            # Some APIs name the model in the path: to ask another one is no repeat.
            asked = hashlib.sha256(f"{shape}\n".encode(errors="replace"))
            asked.update(body)
            digest = asked.hexdigest()
            if not left_out:
                return family.read_request(path, sent, digest)
            images = set(iter_images(sent, family.images))
            sent = as_dict(left_out.put_back(sent, but=images))
            return replace(family.read_request(path, sent, digest), omitted=left_out)
    return None


def read_answer(request: LlmRequest, status: int, content_type: str, body: bytes) -> LlmAnswer:
    """Return what the answer to a recognised request says.

    ``body`` is decompressed, and cut where the answer was. Nothing is raised, whatever it is: what
    cannot be read is an ``error`` in the answer.
    """
    return _BY_NAME[request.api].read_answer(request, status, content_type, body)


def with_system_text(request: LlmRequest, body: bytes, text: str) -> bytes:
    """Return the body of a recognised request with a text at the end of its system prompt.

    ``body`` is decompressed; all else in it stays byte for byte. Raises ValueError where the system
    prompt has a form that is not understood.
    """
    shorter, left_out = omit_base64(body)
    return left_out.whole(_BY_NAME[request.api].append_to_system_prompt(shorter, text))


def write_answer(request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
    """Return an answer to a recognised request as its API sends it."""
    return _BY_NAME[request.api].write_answer(request, answer)


def refuse(request: LlmRequest, trouble: ApiErrorKind, wait: int) -> SerializedAnswer:
    """Return the error that a recognised request's API sends for a trouble.

    ``wait``: for how many seconds the client is told to wait, where the API tells it so.
    """
    return _BY_NAME[request.api].error_response(request, trouble, wait)


def told_wait(request: LlmRequest, headers: Mapping[str, str], body: bytes) -> float | None:
    """Return for how many seconds an error tells a recognised request's client to wait, if so."""
    named = {name.lower(): value for name, value in headers.items()}
    return _BY_NAME[request.api].retry_after(named, body)


def tool_names(request: LlmRequest) -> tuple[str, ...]:
    """Return the names of the tools that a recognised request offers, as its API names them."""
    return tuple(_BY_NAME[request.api].tool_names(request.tools))


def usage_at_least(request: LlmRequest) -> Usage:
    """Return the tokens of a call that was answered in a way that nobody here can read."""
    asked = estimate_input(request, _BY_NAME[request.api].images)
    return Usage(asked, 0, source="partial", tier=request.tier)


def detach_images(request: LlmRequest, keep: Callable[[bytes], str]) -> list[JsonValue]:
    """Return a request's messages with references for images.

    ``keep`` is given each image, and returns its reference: ``sha256/<hex>``.
    """
    images = _BY_NAME[request.api].images
    return _detach_images(request.messages, images, keep, request.omitted)
