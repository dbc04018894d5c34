"""Ollama's own API, from its docs/api.md."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.llm.sdks.python.apis.base import Api, Body, Refused, Reply, Tokens, as_json, pieces

_ERRORS = {
    "busy": (429, "you've reached your hourly usage limit"),
    "long": (400, "the input length exceeds the context length"),
    "overloaded": (503, "server busy, please try again. maximum pending requests exceeded"),
}


class OllamaChat(Api):
    family = "ollama"
    path = re.compile(r"/api/chat$")
    stream_type = "application/x-ndjson"

    def streams(self, path: str, body: Body) -> bool:
        return body.get("stream") is not False

    def able(self, reply: Reply, body: Body) -> Reply:
        finish = "length" if reply.finish == "length" else "tool_calls" if reply.calls else "stop"
        return replace(reply, tokens=Tokens(reply.tokens.input, reply.tokens.output), finish=finish)

    def _says(self, text: str, thinking: str, calls: list[Any]) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if thinking:
            message["thinking"] = thinking
        if calls:
            message["tool_calls"] = calls
        return {"message": message}

    def _calls(self, reply: Reply) -> list[Any]:
        return [{"function": {"name": it.name, "arguments": it.input}} for it in reply.calls]

    def _end(self, reply: Reply) -> Any:
        return {
            "done": True,
            "done_reason": "length" if reply.finish == "length" else "stop",
            "total_duration": 4_883_583_458,
            "load_duration": 1_334_875,
            "prompt_eval_count": reply.tokens.input,
            "prompt_eval_duration": 342_546_000,
            "eval_count": reply.tokens.output,
            "eval_duration": 4_535_599_000,
        }

    def _head(self, model: str) -> Any:
        return {"model": model, "created_at": "2026-07-22T20:33:28.123648Z"}

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        message = self._says(reply.text, reply.thinking, self._calls(reply))
        return {**self._head(model), **message, **self._end(reply)}

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        head, goes_on = self._head(model), {"done": False}
        chunks = [
            *(self._says("", it, []) for it in pieces(reply.thinking)),
            *(self._says(it, "", []) for it in pieces(reply.text)),
            *(self._says("", "", [it]) for it in self._calls(reply)),
        ]
        for it in chunks:
            yield f"{as_json({**head, **it, **goes_on})}\n".encode()
        last = {**head, **self._says("", "", []), **self._end(reply)}
        yield f"{as_json(last)}\n".encode()

    def refusal(self, why: str) -> Refused:
        status, message = _ERRORS[why]
        return Refused(status, {"error": message}, message)

    def breaks(self) -> tuple[bytes, str]:
        refusal = self.refusal("overloaded")
        return f"{as_json(refusal.body)}\n".encode(), refusal.message


class OllamaGenerate(OllamaChat):
    path = re.compile(r"/api/generate$")

    def _says(self, text: str, thinking: str, calls: list[Any]) -> Any:
        return {"response": text, **({"thinking": thinking} if thinking else {})}

    def able(self, reply: Reply, body: Body) -> Reply:
        return super().able(replace(reply, calls=()), body)
