"""Gemini's generateContent, from its reference; also as Vertex AI has it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.llm.sdks.python.apis.base import Api, Body, Refused, Said, Tokens, pieces, sse

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
        found = self.path.search(path)
        assert found
        return found[1]

    def streams(self, path: str, body: Body) -> bool:
        return path.endswith(":streamGenerateContent")

    def offered(self, body: Body) -> list[str]:
        tools = body.get("tools") or []
        keys = ("functionDeclarations", "function_declarations")
        return [it["name"] for tool in tools for key in keys for it in tool.get(key) or []]

    def able(self, said: Said, body: Body) -> Said:
        finish = "content_filter" if said.finish == "refusal" else said.finish
        return replace(said, tokens=replace(said.tokens, cache_write=0), finish=finish)

    def _parts(self, said: Said, words: Any) -> list[dict[str, Any]]:
        return [
            *({"text": it, "thought": True} for it in words(said.thinking)),
            *({"text": it} for it in words(said.text)),
            *({"functionCall": {"name": it.name, "args": it.input}} for it in said.calls),
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

    def _answer(self, parts: list[Any], said: Said, model: str, *, ends: bool) -> Any:
        candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
        if ends:
            candidate["finishReason"] = _FINISH[said.finish]
        tokens = said.tokens if ends else replace(said.tokens, output=7, reasoning=0)
        usage = self._usage(tokens)
        head = {"modelVersion": model, "responseId": "r1"}
        return {"candidates": [candidate], "usageMetadata": usage, **head}

    def whole(self, said: Said, body: Body, model: str) -> Any:
        parts = self._parts(said, lambda text: [text] if text else [])
        return self._answer(parts, said, model, ends=True)

    def events(self, said: Said, body: Body, model: str) -> Iterator[bytes]:
        parts = self._parts(said, pieces)
        for number, part in enumerate(parts, 1):
            yield sse(self._answer([part], said, model, ends=number == len(parts)))

    def refusal(self, why: str) -> Refused:
        code, status, message = _ERRORS[why]
        return Refused(
            code, {"error": {"code": code, "message": message, "status": status}}, message
        )

    def breaks(self) -> tuple[bytes, str]:
        # Not as an event: the API's streams end with the plain error.
        refused = self.refusal("overloaded")
        return f"{json.dumps(refused.body, indent=2)}\n".encode(), refused.message
