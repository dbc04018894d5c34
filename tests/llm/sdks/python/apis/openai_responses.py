"""OpenAI's Responses, from its reference."""

import re
from collections.abc import Iterator
from typing import Any

from tests.llm.sdks.python.apis.base import Api, Body, Refused, Reply, as_json, pieces, sse
from tests.llm.sdks.python.apis.openai_chat import CREATED, openai_refusal

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class OpenAiResponses(Api):
    family = "openai_responses"
    path = re.compile(r"/responses$")

    def offered(self, body: Body) -> list[str]:
        return [it["name"] for it in body.get("tools") or []]

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        why, tokens = _INCOMPLETE.get(reply.finish), reply.tokens
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": CREATED,
            "status": "incomplete" if why else "completed",
            "incomplete_details": {"reason": why} if why else None,
            "error": None,
            "instructions": body.get("instructions"),
            "metadata": {},
            "model": model,
            "output": [*self._items(reply)],
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": body.get("tools") or [],
            "top_p": 1.0,
            "usage": {
                "input_tokens": tokens.input,
                "input_tokens_details": {
                    "cached_tokens": tokens.cache_read,
                    "cache_write_tokens": tokens.cache_write,
                },
                "output_tokens": tokens.output,
                "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
                "total_tokens": tokens.input + tokens.output,
            },
        }

    def _items(self, reply: Reply) -> Iterator[dict[str, Any]]:
        if reply.thinking:
            summary = {"type": "summary_text", "text": reply.thinking}
            yield {"id": "rs_1", "type": "reasoning", "summary": [summary]}
        if reply.text:
            part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
            if reply.finish == "refusal":
                part = {"type": "refusal", "refusal": reply.text}
            yield {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        for it in reply.calls:
            yield {
                "id": f"fc_{it.id}",
                "type": "function_call",
                "status": "completed",
                "call_id": it.id,
                "name": it.name,
                "arguments": as_json(it.input),
            }

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        for number, (kind, data) in enumerate(self._frames(reply, body, model)):
            yield sse({"type": kind, "sequence_number": number, **data}, kind)

    def _frames(self, reply: Reply, body: Body, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
        response = self.complete(reply, body, model)
        begun = {**response, "status": "in_progress", "output": [], "usage": None}
        yield "response.created", {"response": begun}
        yield "response.in_progress", {"response": begun}
        for index, item in enumerate(response["output"]):
            at = {"item_id": item["id"], "output_index": index}
            empty = {"content": [], "summary": [], "arguments": "", "status": "in_progress"}
            begun = {key: empty.get(key, value) for key, value in item.items()}
            yield "response.output_item.added", {"output_index": index, "item": begun}
            match item["type"]:
                case "message":
                    yield from self._message(at, item["content"][0])
                case "reasoning":
                    yield from self._thought(at, item["summary"][0])
                case _:
                    kind = "response.function_call_arguments"
                    for word in pieces(item["arguments"]):
                        yield f"{kind}.delta", {**at, "delta": word}
                    done = {"name": item["name"], "arguments": item["arguments"]}
                    yield f"{kind}.done", {**at, **done}
            yield "response.output_item.done", {"output_index": index, "item": item}
        yield f"response.{response['status']}", {"response": response}

    def _message(self, at: Any, part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        key = "refusal" if part["type"] == "refusal" else "text"
        kind = "response.refusal" if key == "refusal" else "response.output_text"
        at = {**at, "content_index": 0}
        more: dict[str, Any] = {} if key == "refusal" else {"logprobs": []}
        yield "response.content_part.added", {**at, "part": {**part, key: ""}}
        for word in pieces(part[key]):
            yield f"{kind}.delta", {**at, "delta": word, **more}
        yield f"{kind}.done", {**at, key: part[key], **more}
        yield "response.content_part.done", {**at, "part": part}

    def _thought(self, at: Any, part: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        at, kind = {**at, "summary_index": 0}, "response.reasoning_summary"
        yield f"{kind}_part.added", {**at, "part": {**part, "text": ""}}
        for word in pieces(part["text"]):
            yield f"{kind}_text.delta", {**at, "delta": word}
        yield f"{kind}_text.done", {**at, "text": part["text"]}
        yield f"{kind}_part.done", {**at, "part": part}

    def refusal(self, why: str) -> Refused:
        return openai_refusal(why)

    def breaks(self) -> tuple[bytes, str]:
        message = openai_refusal("overloaded").message
        error = {"code": "server_error", "message": message, "param": None, "sequence_number": 9}
        return sse({"type": "error", **error}, "error"), message
