"""Recognises, reads and writes LLM calls on the wire."""

import hashlib
from collections.abc import Callable, Mapping

from msgspec.structs import replace
from pydantic import JsonValue

from warex.llm.base import ApiErrorKind, LlmAnswer, LlmRequest, SerializedAnswer, ToolCall, Usage
from warex.llm.body.large_base64 import omit_base64
from warex.llm.body.lenient_json import as_dict, parse_object
from warex.llm.content.images import detach_images as _detach_images
from warex.llm.content.images import iter_images
from warex.llm.content.token_estimate import estimate_input
from warex.llm.families import LLM_APIS, LlmApi, apis, family_named, is_api_path
from warex.llm.families.base import StreamedAnswer

__all__ = [
    "LLM_APIS",
    "LlmAnswer",
    "LlmApi",
    "LlmRequest",
    "StreamedAnswer",
    "ToolCall",
    "Usage",
    "could_be_llm",
    "detach_images",
    "read_answer",
    "recognise",
    "refuse",
    "retry_after",
    "streamed_answer",
    "tool_names",
    "usage_at_least",
    "with_system_text",
    "write_answer",
]


def could_be_llm(method: str, path: str) -> bool:
    """Whether a request's body must be kept for ``recognise``; takes under 2 µs."""
    return method == "POST" and is_api_path(path.partition("?")[0])


def recognise(method: str, path: str, content_type: str, body: bytes) -> LlmRequest | None:
    """Return the LLM call in a request, or None; raises nothing.

    ``path`` may have a query; ``body`` is decompressed. The content type is ignored: servers such
    as Ollama read JSON of any type, and curl sends it as a form.
    """
    if not could_be_llm(method, path):
        return None
    shorter, left_out = omit_base64(body)
    sent = parse_object(shorter)
    shape = path.partition("?")[0]
    for family in apis():
        if shape.endswith(family.path_endings) and family.recognise(path, sent):
            # Some APIs name the model in the path: a request to another model is not a repeat.
            asked = hashlib.sha256(f"{shape}\n".encode(errors="replace"))
            asked.update(body)
            digest = asked.hexdigest()
            if not left_out:
                return family.read_request(path, sent, digest)
            images = {image.data or "" for image in iter_images(sent, family.images)}
            sent = as_dict(left_out.put_back(sent, but=images))
            return replace(family.read_request(path, sent, digest), omitted=left_out)
    return None


def streamed_answer(request: LlmRequest) -> StreamedAnswer:
    """Return what reads the events of an answer as they come."""
    return StreamedAnswer(family_named(request.api))


def read_answer(
    request: LlmRequest,
    status: int,
    content_type: str,
    body: bytes,
    begun: StreamedAnswer | None = None,
) -> LlmAnswer:
    """Read the answer to a recognised request; raises nothing.

    ``body`` is decompressed, and may be cut. A body that cannot be read becomes the ``error``.
    ``begun``: what has read its first events, and is used up by this.
    """
    return family_named(request.api).read_answer(request, status, content_type, body, begun)


def with_system_text(request: LlmRequest, body: bytes, text: str) -> bytes:
    """Return the body of a recognised request with a text at the end of its system prompt.

    ``body`` is decompressed; its other bytes stay. Raises ValueError if the form of the system
    prompt is unknown.
    """
    shorter, left_out = omit_base64(body)
    return left_out.restore(family_named(request.api).append_to_system_prompt(shorter, text))


def write_answer(request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
    """Return an answer in the form of the request's API."""
    return family_named(request.api).write_answer(request, answer)


def refuse(request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
    """Return an error as the request's API sends it.

    ``wait`` is the time in seconds after which the client may retry, if the API sends one.
    """
    return family_named(request.api).write_error(request, kind, wait)


def retry_after(request: LlmRequest, headers: Mapping[str, str], body: bytes) -> float | None:
    """Return the seconds after which an error allows a retry; None if it does not say."""
    named = {name.lower(): value for name, value in headers.items()}
    return family_named(request.api).retry_after(named, body)


def tool_names(request: LlmRequest) -> tuple[str, ...]:
    """Return the names of the tools that a request offers."""
    return tuple(family_named(request.api).tool_names(request.tools))


def usage_at_least(request: LlmRequest) -> Usage:
    """Return the known tokens of a call whose answer cannot be read."""
    asked = estimate_input(request, family_named(request.api).images)
    return Usage(asked, 0, source="partial", tier=request.tier)


def detach_images(request: LlmRequest, keep: Callable[[bytes], str]) -> list[JsonValue]:
    """Return a request's messages with references for images.

    ``keep`` maps each image to its reference: ``sha256/<hex>``.
    """
    images = family_named(request.api).images
    return _detach_images(request.messages, images, keep, request.omitted)
