"""Gemini's generateContent, from its reference; also as Vertex AI has it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.llm.sdks.python.apis.base import Api, Body, Refused, Reply, Tokens, pieces, sse

_FINISH = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}
_ERRORS = {
    "busy": (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."),
    "long": (400, "INVALID_ARGUMENT", "The input token count (1310720) exceeds the maximum."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}


class Gemini(Api):
    family = "gemini"
    path = re.compile(r"/models/([^/:]+):(?:generateContent|streamGenerateContent)$")

    def model(self, path: str, body: Body) -> str:
        match = self.path.search(path)
        assert match
        return match[1]

    def streams(self, path: str, body: Body) -> bool:
        return path.endswith(":streamGenerateContent")

    def offered(self, body: Body) -> list[str]:
        tools = body.get("tools") or []
        keys = ("functionDeclarations", "function_declarations")
        return [it["name"] for tool in tools for key in keys for it in tool.get(key) or []]

    def able(self, reply: Reply, body: Body) -> Reply:
        finish = "content_filter" if reply.finish == "refusal" else reply.finish
        return replace(reply, tokens=replace(reply.tokens, cache_write=0), finish=finish)

    def _parts(self, reply: Reply, words: Any) -> list[dict[str, Any]]:
        return [
            *({"text": it, "thought": True} for it in words(reply.thinking)),
            *({"text": it} for it in words(reply.text)),
            *({"functionCall": {"name": it.name, "args": it.input}} for it in reply.calls),
        ]

    def _usage(self, tokens: Tokens) -> Any:
        return {
            "promptTokenCount": tokens.input,
            "cachedContentTokenCount": tokens.cache_read,
            "candidatesTokenCount": tokens.output - tokens.reasoning,
            "thoughtsTokenCount": tokens.reasoning,
            "totalTokenCount": tokens.input + tokens.output,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens.input}],
        }

    def _answer(self, parts: list[Any], reply: Reply, model: str, *, ends: bool) -> Any:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if ends:
            candidate["finishReason"] = _FINISH[reply.finish]
        tokens = reply.tokens if ends else replace(reply.tokens, output=7, reasoning=0)
        usage = self._usage(tokens)
        head = {"modelVersion": model, "responseId": "r1"}
        return {"candidates": [candidate], "usageMetadata": usage, **head}

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        parts = self._parts(reply, lambda text: [text] if text else [])
        return self._answer(parts, reply, model, ends=True)

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        parts = self._parts(reply, pieces)
        for number, part in enumerate(parts, 1):
            yield sse(self._answer([part], reply, model, ends=number == len(parts)))

    def refusal(self, why: str) -> Refused:
        code, status, message = _ERRORS[why]
        return Refused(
            code, {"error": {"code": code, "message": message, "status": status}}, message
        )

    def breaks(self) -> tuple[bytes, str]:
        # Not as an event: the API's streams end with the plain error.
        refusal = self.refusal("overloaded")
        return f"{json.dumps(refusal.body, indent=2)}\n".encode(), refusal.message
