"""Cohere's Chat, version 2, from its reference."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.llm.sdks.python.apis.base import Api, Body, Refused, Reply, as_json, pieces, sse

_FINISH = {"stop": "COMPLETE", "length": "MAX_TOKENS", "tool_calls": "TOOL_CALL"}
_ERRORS = {
    "busy": (429, "You are using a trial key, which is limited to 20 API calls / minute."),
    "long": (400, "too many tokens: the prompt cannot exceed 128000"),
    "overloaded": (503, "the service is currently overloaded, please try again"),
}


class CohereChat(Api):
    family = "cohere"
    path = re.compile(r"/v2/chat$")

    def able(self, reply: Reply, body: Body) -> Reply:
        counted = replace(reply.tokens, cache_write=0, reasoning=0)
        # Before tool calls, a plan replaces the text.
        text = "" if reply.calls else reply.text
        return replace(reply, tokens=counted, text=text)

    def _usage(self, reply: Reply) -> Any:
        tokens = reply.tokens
        return {
            "billed_units": {"input_tokens": 17, "output_tokens": tokens.output},
            "tokens": {"input_tokens": tokens.input, "output_tokens": tokens.output},
            "cached_tokens": tokens.cache_read,
        }

    def _calls(self, reply: Reply) -> list[Any]:
        return [
            {
                "id": it.id,
                "type": "function",
                "function": {"name": it.name, "arguments": as_json(it.input)},
            }
            for it in reply.calls
        ]

    def _parts(self, reply: Reply) -> list[tuple[str, str]]:
        both = (("thinking", reply.thinking), ("text", reply.text))
        return [(kind, text) for kind, text in both if text]

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        message: dict[str, Any] = {"role": "assistant"}
        if reply.calls:
            message |= {"tool_plan": "I will click.", "tool_calls": self._calls(reply)}
        else:
            message["content"] = [{"type": kind, kind: text} for kind, text in self._parts(reply)]
        reason = _FINISH[reply.finish]
        return {
            "id": "c1",
            "finish_reason": reason,
            "message": message,
            "usage": self._usage(reply),
        }

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        for kind, data in self._frames(reply):
            yield sse({"type": kind, **data}, kind)

    def _frames(self, reply: Reply) -> Iterator[tuple[str, dict[str, Any]]]:
        empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        yield "message-start", {"id": "c1", "delta": {"message": {**empty, "citations": []}}}
        for index, (kind, text) in enumerate(self._parts(reply)):
            begun = {"message": {"content": {"type": kind, kind: ""}}}
            yield "content-start", {"index": index, "delta": begun}
            for word in pieces(text):
                piece = {"message": {"content": {kind: word}}}
                yield "content-delta", {"index": index, "delta": piece}
            yield "content-end", {"index": index}
        if reply.calls:
            for word in pieces("I will click."):
                yield "tool-plan-delta", {"delta": {"message": {"tool_plan": word}}}
        for index, call in enumerate(self._calls(reply)):
            inputs = call["function"]["arguments"]
            call["function"]["arguments"] = ""
            yield "tool-call-start", {"index": index, "delta": {"message": {"tool_calls": call}}}
            for word in pieces(inputs):
                more = {"tool_calls": {"function": {"arguments": word}}}
                yield "tool-call-delta", {"index": index, "delta": {"message": more}}
            yield "tool-call-end", {"index": index}
        end = {"finish_reason": _FINISH[reply.finish], "usage": self._usage(reply)}
        yield "message-end", {"id": "c1", "delta": end}

    def refusal(self, why: str) -> Refused:
        status, message = _ERRORS[why]
        return Refused(status, {"id": "c1", "message": message}, message, {"retry-after-ms": "10"})
