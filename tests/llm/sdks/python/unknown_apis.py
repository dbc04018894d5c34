"""The vendors' answers to calls of APIs that WAREX does not read."""

import re
from typing import Any

_TOKENS = {"input_tokens": 17}
_EMBEDDING = {"object": "embedding", "index": 0, "embedding": [0.5, -1.0]}
_USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
_EMBEDDINGS = {
    "id": "e1",
    "object": "list",
    "model": "embed",
    "data": [_EMBEDDING],
    "usage": {"prompt_tokens": 3, "total_tokens": 3, "completion_tokens": 0},
}
_COMPLETION = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1_760_000_000,
    "model": "m",
    "choices": [{"index": 0, "text": "so", "logprobs": None, "finish_reason": "stop"}],
    "usage": _USAGE,
}
_FILLED_IN = {
    **_COMPLETION,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "so", "tool_calls": None},
            "finish_reason": "stop",
        }
    ],
}
_CONVERSATION = {
    "object": "conversation.response",
    "conversation_id": "conv_1",
    "outputs": [
        {"object": "entry", "type": "message.output", "role": "assistant", "content": "so"}
    ],
    "usage": {**_USAGE, "connector_tokens": 0},
}
_OTHERS: tuple[tuple[str, str, Any, bool], ...] = (
    ("*", r"/models$", {"object": "list", "data": []}, False),
    ("openai", r"/v1/embeddings$", _EMBEDDINGS, False),
    ("openai", r"/responses/input_tokens$", {"object": "response.input_tokens", **_TOKENS}, False),
    ("openai", r"/v1/completions$", _COMPLETION, True),
    ("anthropic", r"/v1/messages/count_tokens$", _TOKENS, False),
    ("google", r":countTokens$", {"totalTokens": 17}, False),
    ("google", r":batchEmbedContents$", {"embeddings": [{"values": [0.5, -1.0]}]}, False),
    (
        "google",
        r"/interactions$",
        {
            "id": "i1",
            "object": "interaction",
            "status": "completed",
            "model": "m",
            "role": "model",
            "created": "2026-07-22T20:33:28Z",
            "updated": "2026-07-22T20:33:28Z",
            "outputs": [{"type": "text", "text": "so"}],
            "steps": [{"type": "model_output", "content": [{"type": "text", "text": "so"}]}],
            "usage": {"total_tokens": 10},
        },
        True,
    ),
    ("bedrock", r"/count-tokens$", {"inputTokens": 17}, False),
    ("bedrock", r"/model/[^/]*embed[^/]*/invoke$", {"embedding": [0.5, -1.0]}, False),
    (
        "bedrock",
        r"/invoke$",
        {"inputTextTokenCount": 7, "results": [{"tokenCount": 3, "outputText": "so"}]},
        True,
    ),
    ("ollama", r"/api/embed$", {"model": "m", "embeddings": [[0.5, -1.0]]}, False),
    ("ollama", r"/api/show$", {"details": {}, "model_info": {}, "capabilities": []}, False),
    ("mistral", r"/v1/embeddings$", _EMBEDDINGS, False),
    ("mistral", r"/v1/fim/completions$", _FILLED_IN, True),
    ("mistral", r"/v1/conversations$", _CONVERSATION, True),
    (
        "cohere",
        r"/v2/embed$",
        {"id": "e1", "response_type": "embeddings_by_type", "texts": ["room"],
         "embeddings": {"float": [[0.5, -1.0]]}},
        False,
    ),
    (
        "cohere",
        r"/v2/rerank$",
        {"id": "r1", "results": [{"index": 0, "relevance_score": 0.5}]},
        False,
    ),
    (
        "cohere",
        r"/v1/chat$",
        {"text": "so", "generation_id": "g", "finish_reason": "COMPLETE"},
        True,
    ),
)  # fmt: skip
"""Vendor, path, answer, and whether a model generates text."""


def answer_of(vendor: str, method: str, path: str) -> tuple[Any, bool]:
    """Return the answer, and whether a model generates text."""
    for whose, pattern, answer, generates in _OTHERS:
        if whose in ("*", vendor) and re.search(pattern, path):
            return answer, generates and method == "POST"
    raise LookupError(f"{vendor} has no {method} {path}")
