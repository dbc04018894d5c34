"""The catalogue of LLM APIs: one file per family.

To add one: write its file, its test, one line in docs/reference/llm.md, and name it below.
tests/llm/test_catalogue.py names whichever is missing.
"""

import hashlib

from warex.llm.base import Family, LlmAnswer, LlmRequest, ToolCall, Usage
from warex.llm.loose import read_json
from warex.llm.openai_chat import OpenAiChat

FAMILIES: tuple[Family, ...] = (OpenAiChat(),)

_BY_NAME = {family.name: family for family in FAMILIES}
_ENDINGS = tuple(ending for family in FAMILIES for ending in family.path_endings)

__all__ = [
    "FAMILIES",
    "Family",
    "LlmAnswer",
    "LlmRequest",
    "ToolCall",
    "Usage",
    "could_be_llm",
    "read_answer",
    "recognise",
    "with_system_text",
]


def could_be_llm(method: str, path: str) -> bool:
    """Tell in under 2 µs whether a request's body is worth keeping for ``recognise``."""
    return method == "POST" and path.partition("?")[0].endswith(_ENDINGS)


def recognise(method: str, path: str, content_type: str, body: bytes) -> LlmRequest | None:
    """Return the LLM call that a request is, or None.

    ``path`` may carry a query; ``content_type`` may be empty; ``body`` is decompressed. Nothing is
    raised, whatever the body is.
    """
    if not could_be_llm(method, path) or (content_type and "json" not in content_type.lower()):
        return None
    try:
        sent = read_json(body)
    except ValueError:
        return None
    if not isinstance(sent, dict):
        return None
    shape = path.partition("?")[0]
    for family in FAMILIES:
        if shape.endswith(family.path_endings) and family.recognise(path, sent):
            return family.read_request(path, sent, hashlib.sha256(body).hexdigest())
    return None


def read_answer(request: LlmRequest, status: int, content_type: str, body: bytes) -> LlmAnswer:
    """Return what the answer to a recognised request says.

    ``body`` is decompressed, and cut where the answer was. Nothing is raised, whatever it is: what
    cannot be read is an ``error`` in the answer.
    """
    return _BY_NAME[request.family].read_answer(request, status, content_type, body)


def with_system_text(request: LlmRequest, body: bytes, text: str) -> bytes:
    """Return the body of a recognised request with a text at the end of its system prompt.

    ``body`` is decompressed; all else in it stays byte for byte. Raises ValueError where the system
    prompt has a form that is not understood.
    """
    return _BY_NAME[request.family].with_system_text(body, text)
