"""Anthropic's Messages, from its reference; also as Bedrock and Vertex AI carry it."""

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

_STOP = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
}
_ERRORS = {
    "busy": (429, "rate_limit_error", "This request would exceed your rate limit."),
    "long": (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}


def error(why: str) -> Any:
    _, kind, message = _ERRORS[why]
    detail = {"type": kind, "message": message}
    return {"type": "error", "error": detail, "request_id": "req_1"}


class AnthropicMessages(Api):
    family = "anthropic_messages"
    path = re.compile(r"/v1/messages$|:rawPredict$|:streamRawPredict$")

    def model(self, path: str, body: Body) -> str:
        on_vertex = re.search(r"/models/([^/:]+):", path)
        return on_vertex[1] if on_vertex else str(body["model"])

    def offered(self, body: Body) -> list[str]:
        return [it["name"] for it in body.get("tools") or []]

    def able(self, reply: Reply, body: Body) -> Reply:
        return replace(reply, finish="refusal") if reply.finish == "content_filter" else reply

    def blocks(self, reply: Reply) -> Iterator[dict[str, Any]]:
        if reply.thinking:
            yield {"type": "thinking", "thinking": reply.thinking, "signature": "c2lnbmVk"}
        if reply.text:
            yield {"type": "text", "text": reply.text}
        for it in reply.calls:
            yield {"type": "tool_use", "id": it.id, "name": it.name, "input": it.input}

    def usage(self, tokens: Tokens) -> dict[str, Any]:
        return {
            "input_tokens": tokens.input - tokens.cache_read - tokens.cache_write,
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": tokens.cache_write,
                "ephemeral_1h_input_tokens": 0,
            },
            "output_tokens": tokens.output,
            "output_tokens_details": {"thinking_tokens": tokens.reasoning},
            "service_tier": "standard",
        }

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [*self.blocks(reply)],
            "stop_reason": _STOP[reply.finish],
            "stop_sequence": None,
            "usage": self.usage(reply.tokens),
        }

    def frames(self, reply: Reply, body: Body, model: str) -> Iterator[dict[str, Any]]:
        begun = {**self.usage(reply.tokens), "output_tokens": 1, "output_tokens_details": None}
        empty: dict[str, Any] = {"content": [], "stop_reason": None, "usage": begun}
        yield {"type": "message_start", "message": {**self.complete(reply, body, model), **empty}}
        yield {"type": "ping"}
        for index, block in enumerate(self.blocks(reply)):
            at = {"index": index}
            start: dict[str, Any]
            deltas: list[dict[str, Any]]
            match block["type"]:
                case "thinking":
                    start = {"thinking": "", "signature": ""}
                    words = pieces(block["thinking"])
                    deltas = [{"type": "thinking_delta", "thinking": it} for it in words]
                    signed = {"type": "signature_delta", "signature": block["signature"]}
                    deltas.append(signed)
                case "text":
                    start = {"text": ""}
                    deltas = [{"type": "text_delta", "text": it} for it in pieces(block["text"])]
                case _:
                    start = {"input": {}}
                    words = ["", *pieces(as_json(block["input"]))]
                    deltas = [{"type": "input_json_delta", "partial_json": it} for it in words]
            yield {"type": "content_block_start", **at, "content_block": {**block, **start}}
            for delta in deltas:
                yield {"type": "content_block_delta", **at, "delta": delta}
            yield {"type": "content_block_stop", **at}
        stop = {"stop_reason": _STOP[reply.finish], "stop_sequence": None}
        usage = self.usage(reply.tokens)
        final = {key: usage[key] for key in ("output_tokens", "output_tokens_details")}
        yield {"type": "message_delta", "delta": stop, "usage": final}
        yield {"type": "message_stop"}

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        for frame in self.frames(reply, body, model):
            yield sse(frame, frame["type"])

    def refusal(self, why: str) -> Refused:
        status, _, message = _ERRORS[why]
        headers = {"retry-after-ms": "10", "request-id": "req_1"}
        return Refused(status, error(why), message, headers)

    def breaks(self) -> tuple[bytes, str]:
        return sse(error("overloaded"), "error"), _ERRORS["overloaded"][2]
