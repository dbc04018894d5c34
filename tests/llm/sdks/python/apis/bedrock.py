"""Amazon Bedrock, from its API reference: Converse, and Claude over InvokeModel."""

import base64
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import unquote
from zlib import crc32

from tests.llm.sdks.python.apis.anthropic_messages import AnthropicMessages
from tests.llm.sdks.python.apis.base import Api, Body, Refused, Reply, as_json, pieces

EVENT_STREAM = "application/vnd.amazon.eventstream"
_STOP = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filtered",
}
_ERRORS = {
    "busy": (429, "ThrottlingException", "Too many requests, please wait before trying again."),
    "long": (400, "ValidationException", "Input is too long for requested model."),
    "overloaded": (503, "ServiceUnavailableException", "Too many connections, please wait."),
}


def message(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return a message of an event stream (smithy.io, "Amazon Event Stream Specification")."""
    encoded = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value
        for name, value in ((name, value.encode()) for name, value in headers.items())
    )
    prelude = struct.pack("!II", 16 + len(encoded) + len(payload), len(encoded))
    checked = prelude + struct.pack("!I", crc32(prelude)) + encoded + payload
    return checked + struct.pack("!I", crc32(checked))


def event(kind: str, payload: Any) -> bytes:
    head = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return message(head, as_json(payload).encode())


def refusal(why: str) -> Refused:
    status, kind, reply = _ERRORS[why]
    headers = {"x-amzn-errortype": f"{kind}:", "x-amzn-requestid": "r1"}
    return Refused(status, {"message": reply}, reply, headers)


def broken() -> tuple[bytes, str]:
    name, reply = "modelStreamErrorException", _ERRORS["overloaded"][2]
    kind = {":exception-type": name, ":message-type": "exception"}
    head = {**kind, ":content-type": "application/json"}
    return message(head, as_json({"message": reply}).encode()), f"{name}: {reply}"


class BedrockConverse(Api):
    family = "bedrock_converse"
    path = re.compile(r"/model/([^/]+)/converse(?:-stream)?$")
    stream_type = EVENT_STREAM

    def model(self, path: str, body: Body) -> str:
        match = self.path.search(path)
        assert match
        return unquote(match[1])

    def streams(self, path: str, body: Body) -> bool:
        return path.endswith("-stream")

    def offered(self, body: Body) -> list[str]:
        tools = (body.get("toolConfig") or {}).get("tools") or []
        return [it["toolSpec"]["name"] for it in tools if "toolSpec" in it]

    def able(self, reply: Reply, body: Body) -> Reply:
        finish = "content_filter" if reply.finish == "refusal" else reply.finish
        return replace(reply, tokens=replace(reply.tokens, reasoning=0), finish=finish)

    def _end(self, reply: Reply) -> Any:
        tokens = reply.tokens
        usage = {
            "inputTokens": tokens.input - tokens.cache_read - tokens.cache_write,
            "outputTokens": tokens.output,
            "totalTokens": tokens.input + tokens.output,
            "cacheReadInputTokens": tokens.cache_read,
            "cacheWriteInputTokens": tokens.cache_write,
        }
        return {"usage": usage, "metrics": {"latencyMs": 41}}

    def complete(self, reply: Reply, body: Body, model: str) -> Any:
        content: list[Any] = []
        if reply.thinking:
            thought = {"text": reply.thinking, "signature": "c2lnbmVk"}
            content.append({"reasoningContent": {"reasoningText": thought}})
        if reply.text:
            content.append({"text": reply.text})
        for it in reply.calls:
            content.append({"toolUse": {"toolUseId": it.id, "name": it.name, "input": it.input}})
        output = {"message": {"role": "assistant", "content": content}}
        return {"output": output, "stopReason": _STOP[reply.finish], **self._end(reply)}

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        yield event("messageStart", {"role": "assistant"})
        for index, block in enumerate(
            self.complete(reply, body, model)["output"]["message"]["content"]
        ):
            at = {"contentBlockIndex": index}
            if "toolUse" in block:
                used = dict(block["toolUse"])
                text = as_json(used.pop("input"))
                yield event("contentBlockStart", {**at, "start": {"toolUse": used}})
                deltas: list[Any] = [{"toolUse": {"input": it}} for it in pieces(text)]
            elif "text" in block:
                deltas = [{"text": it} for it in pieces(block["text"])]
            else:
                words = pieces(reply.thinking)
                deltas = [{"reasoningContent": {"text": it}} for it in words]
                deltas.append({"reasoningContent": {"signature": "c2lnbmVk"}})
            for delta in deltas:
                yield event("contentBlockDelta", {**at, "delta": delta})
            yield event("contentBlockStop", at)
        yield event("messageStop", {"stopReason": _STOP[reply.finish]})
        yield event("metadata", self._end(reply))

    def refusal(self, why: str) -> Refused:
        return refusal(why)

    def breaks(self) -> tuple[bytes, str]:
        return broken()


class BedrockInvoke(AnthropicMessages):
    """Claude's own bodies; each of its events is wrapped in an event of the stream."""

    family = "bedrock_invoke"
    path = re.compile(r"/model/([^/]+)/invoke(?:-with-response-stream)?$")
    stream_type = EVENT_STREAM

    def model(self, path: str, body: Body) -> str:
        match = self.path.search(path)
        assert match
        return unquote(match[1])

    def streams(self, path: str, body: Body) -> bool:
        return path.endswith("-stream")

    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]:
        for frame in self.frames(reply, body, model):
            chunk = dict(frame)
            if frame["type"] == "message_stop":
                counts = {
                    "inputTokenCount": reply.tokens.input,
                    "outputTokenCount": reply.tokens.output,
                    "invocationLatency": 41,
                    "firstByteLatency": 12,
                }
                chunk["amazon-bedrock-invocationMetrics"] = counts
            packed = base64.b64encode(as_json(chunk).encode()).decode()
            yield event("chunk", {"bytes": packed, "p": "abcdef"})

    def refusal(self, why: str) -> Refused:
        return refusal(why)

    def breaks(self) -> tuple[bytes, str]:
        return broken()
