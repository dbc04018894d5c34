"""OpenAI's Chat Completions, from its reference; also as Azure and Mistral have it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.llm.sdks.python.apis.base import (
    Api,
    Body,
    Refused,
    Reply,
    Tokens,
    as_json,
    pieces,
    sse,
)

CREATED = 1_760_000_000
_ERRORS = {
    "busy": (429, "requests", "rate_limit_exceeded", "Rate limit reached. Try again in 10ms."),
    "long": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "Your input exceeds the context window of this model.",
    ),
    "overloaded": (503, "server_error", None, "The engine is currently overloaded."),
}


def openai_refusal(why: str) -> Refused:
    status, kind, code, message = _ERRORS[why]
    error = {"message": message, "type": kind, "param": None, "code": code}
    headers = {"retry-after-ms": "10", "x-request-id": "req_1"}
    return Refused(status, {"error": error}, message, headers)


class OpenAiChat(Api):
    family = "openai_chat"
    path = re.compile(r"/chat/completions$")

    def model(self, path: str, body: Body) -> str:
        deployed = re.search(r"/deployments/([^/]+)/", path)
        return str(body.get("model") or (deployed[1] if deployed else ""))

    def able(self, reply: Reply, body: Body) -> Reply:
        return replace(reply, text="") if reply.calls and not reply.text.strip() else reply

    def usage(self, tokens: Tokens) -> Any:
        return {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": tokens.input + tokens.output,
            "prompt_tokens_details": {
                "cached_tokens": tokens.cache_read,
                "cache_write_tokens": tokens.cache_write,
                "audio_tokens": 0,
            },
            "completion_tokens_details": {
                "reasoning_tokens": tokens.reasoning,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        }

    def message(self, reply: Reply) -> dict[str, Any]:
        refused = reply.finish == "refusal"
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if refused else reply.text,
            "refusal": reply.text if refused else None,
            "annotations": [],
        }
        if reply.thinking:
            message["reasoning_content"] = reply.thinking
        if reply.calls:
            message["tool_calls"] = self.calls(reply)
        return message

    def calls(self, reply: Reply) -> list[Any]:
        return [
            {
                "id": it.id,
                "type": "function",
                "function": {"name": it.name, "arguments": as_json(it.input)},
            }
            for it in reply.calls
        ]

    def reason(self, reply: Reply) -> str:
        return "stop" if reply.finish == "refusal" else reply.finish

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        choice = {
            "index": 0,
            "message": self.message(reply),
            "logprobs": None,
            "finish_reason": self.reason(reply),
        }
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": CREATED,
            "model": model,
            "choices": [choice],
            "usage": self.usage(reply.tokens),
            "service_tier": "default",
            "system_fingerprint": "fp_1",
        }

    def deltas(self, reply: Reply) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": ""}
        for word in pieces(reply.thinking):
            yield {"reasoning_content": word}
        key = "refusal" if reply.finish == "refusal" else "content"
        for word in pieces(reply.text):
            yield {key: word}
        for index, it in enumerate(reply.calls):
            begun = {"name": it.name, "arguments": ""}
            yield {
                "tool_calls": [{"index": index, "id": it.id, "type": "function", "function": begun}]
            }
            for word in pieces(as_json(it.input)):
                yield {"tool_calls": [{"index": index, "function": {"arguments": word}}]}

    def numbered(self, body: Body) -> bool:
        """Return whether a stream ends with its usage."""
        return bool((body.get("stream_options") or {}).get("include_usage"))

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        head = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": model,
        }
        unknown = {"usage": None} if self.numbered(body) else {}

        def chunk(delta: Any, reason: str | None) -> bytes:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            return sse({**head, "choices": [choice], **unknown})

        for delta in self.deltas(reply):
            yield chunk(delta, None)
        yield chunk({}, self.reason(reply))
        if self.numbered(body):
            yield sse({**head, "choices": [], "usage": self.usage(reply.tokens)})
        yield b"data: [DONE]\n\n"

    def refusal(self, why: str) -> Refused:
        return openai_refusal(why)

    def breaks(self) -> tuple[bytes, str]:
        refusal = openai_refusal("overloaded")
        return sse(refusal.body), refusal.message


class MistralChat(OpenAiChat):
    """Mistral's variant, from its reference: the last chunk with content always has the usage."""

    def able(self, reply: Reply, body: Body) -> Reply:
        return replace(reply, tokens=Tokens(reply.tokens.input, reply.tokens.output))

    def usage(self, tokens: Tokens) -> Any:
        both = tokens.input + tokens.output
        return {
            "prompt_tokens": tokens.input,
            "completion_tokens": tokens.output,
            "total_tokens": both,
        }

    def message(self, reply: Reply) -> dict[str, Any]:
        content: Any = reply.text
        if reply.thinking:
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": reply.thinking}]}
            content = [thought, {"type": "text", "text": reply.text}]
        calls = self.calls(reply) or None
        return {"role": "assistant", "content": content, "tool_calls": calls, "prefix": False}

    def deltas(self, reply: Reply) -> Iterator[dict[str, Any]]:
        yield {"role": "assistant", "content": ""}
        for word in pieces(reply.thinking):
            thought = {"type": "thinking", "thinking": [{"type": "text", "text": word}]}
            yield {"content": [thought]}
        for word in pieces(reply.text):
            yield {"content": word}
        if reply.calls:
            numbered = [{**it, "index": at} for at, it in enumerate(self.calls(reply))]
            yield {"content": "", "tool_calls": numbered}

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        head = {
            "id": "cmpl-1",
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": model,
        }
        for delta in self.deltas(reply):
            choice = {"index": 0, "delta": delta, "finish_reason": None}
            yield sse({**head, "choices": [choice]})
        end = {"index": 0, "delta": {"content": ""}, "finish_reason": self.reason(reply)}
        yield sse({**head, "choices": [end], "usage": self.usage(reply.tokens)})
        yield b"data: [DONE]\n\n"

    def refusal(self, why: str) -> Refused:
        refused = openai_refusal(why)
        body = {
            "object": "error",
            "message": refused.message,
            "type": "invalid_request_error",
            "param": None,
            "code": "3051",
        }
        return Refused(refused.status, body, refused.message, {"retry-after": "0"})
