"""Writes answers in the forms of LLM APIs."""

import json
import zlib
from collections.abc import Iterable, Iterator
from struct import pack

from pydantic import JsonValue

from warex.llm.base import Finish, LlmAnswer, LlmRequest, SerializedAnswer, ToolCall
from warex.llm.body.framing import EVENT_STREAM
from warex.llm.body.lenient_json import as_dict, parse_json
from warex.llm.families.reading import FinishReasons
from warex.text.lazy_pattern import lazy_re

_WORDS = lazy_re(r"\s*\S+|\s+$")


def json_answer(body: JsonValue, status: int = 200, **headers: str) -> SerializedAnswer:
    """Return an answer of JSON; underscores in the names of headers become hyphens."""
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    content = json.dumps(body, ensure_ascii=False).encode()
    return SerializedAnswer(status, {"content-type": "application/json"} | own, content)


def sse(events: Iterable[JsonValue], *, named: bool = False, end: str = "") -> SerializedAnswer:
    """Return a stream of server-sent events; with ``named``, their ``type`` is the event name."""
    body = b"".join(_event(event, named=named) for event in events) + end.encode()
    headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    return SerializedAnswer(200, headers, body)


def sse_event(data: JsonValue, *, name: str = "") -> bytes:
    """Return one server-sent event."""
    named = f"event: {name}\n" if name else ""
    return f"{named}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def aws_exception(name: str, message: str) -> bytes:
    """Return the message by which a stream of AWS breaks off; ``name``: the error's, as in HTTP."""
    return aws_message(name[:1].lower() + name[1:], {"message": message})


def lines(frames: Iterable[JsonValue]) -> SerializedAnswer:
    """Return a stream of JSON values, one on each line."""
    text = "".join(f"{json.dumps(frame, ensure_ascii=False)}\n" for frame in frames)
    return SerializedAnswer(200, {"content-type": "application/x-ndjson"}, text.encode())


def aws_stream(messages: Iterable[tuple[str, JsonValue]]) -> SerializedAnswer:
    """Return an Amazon event stream of pairs of type and payload."""
    body = b"".join(aws_message(kind, payload) for kind, payload in messages)
    return SerializedAnswer(200, {"content-type": EVENT_STREAM}, body)


def aws_message(kind: str, payload: JsonValue) -> bytes:
    """Return one message of an Amazon event stream; the type decides if it is an exception."""
    return aws_message_of(kind, json.dumps(payload, ensure_ascii=False).encode())


def aws_message_of(kind: str, content: bytes) -> bytes:
    """Return one message with a serialised payload."""
    raised = kind.endswith("Exception")
    named = (
        (":exception-type" if raised else ":event-type", kind),
        (":content-type", "application/json"),
        (":message-type", "exception" if raised else "event"),
    )
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + pack(">H", len(value)) + value.encode()
        for name, value in named
    )
    prelude = pack(">II", 16 + len(headers) + len(content), len(headers))
    message = prelude + pack(">I", zlib.crc32(prelude)) + headers + content
    return message + pack(">I", zlib.crc32(message))


def word_chunks(text: str) -> Iterator[str]:
    """Split a text into words with their spaces, as models send them."""
    yield from _WORDS.findall(text)


def parse_arguments(text: str) -> JsonValue:
    """Return a tool's arguments as an object, also if the text is cut."""
    try:
        return as_dict(parse_json(text.encode(errors="replace"), cut=True))
    except ValueError:
        return {}


def service_tier_of(request: LlmRequest, answer: LlmAnswer, usual: str) -> str | None:
    """Return the service tier in the answer to a request that asks for one; else None."""
    return ((answer.usage and answer.usage.tier) or usual) if request.tier else None


def function_call(call: ToolCall) -> dict[str, JsonValue]:
    """Return a tool call in the form of OpenAI's chat completions."""
    function: JsonValue = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def api_finish_reason(finish: Finish, meanings: FinishReasons) -> str:
    """Return the first finish reason of an API with this meaning, or its very first one."""
    return next(
        (word for word, meaning in meanings.items() if meaning == finish), next(iter(meanings))
    )


def _event(data: JsonValue, *, named: bool) -> bytes:
    return sse_event(data, name=str(as_dict(data).get("type")) if named else "")
