"""Splits the body of an answer: whole JSON, an array, lines of JSON, or events.

The form is detected from the body, except for AWS's messages: gateways answer a request for a
stream with an error in JSON, and some servers send no content type.
"""

import json
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from pydantic import JsonValue

from warex.llm.body.lenient_json import (
    TOO_MANY_VALUES,
    as_dict,
    as_text,
    has_too_many_values,
    parse_json,
)
from warex.text.lazy_pattern import lazy_re

MAX_BODY: Final = 16 * 1024 * 1024
"""Bytes of an answer that are read, also decoded; a stream may be endless."""
EVENT_STREAM: Final = "application/vnd.amazon.eventstream"
"""AWS's messages (Smithy, "Amazon Event Stream")."""
_NEWLINE = lazy_re(rb"\n")
_LINE_END = lazy_re(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"
_EVENT_ENDS: Final = (b"\n\n", b"\r\n\r\n")
_DONE: Final = b"[DONE]"
"""The data of the last event of OpenAI's streams."""
_SSE_FIELD = lazy_re(rb"\s*(?:(?:data|event|id|retry)\s*:|:)")
_STREAMED = lazy_re(rb"(?<=\n\n)|(?<=\r\n\r\n)|(?<=\}\n)(?=\{)|(?<=\},\n)(?=\{)")
"""Where the next event, line or item of a stream begins."""
_PLAIN_ERROR = lazy_re(rb'^\{\s*"error"\s*:.*', re.MULTILINE | re.DOTALL)
"""The end of a failed stream of Google's API, which is not an event."""
_DECODER: Final = json.JSONDecoder()
_LONGEST_ERROR: Final = 64 * 1024
_PRELUDE: Final = struct.Struct(">III")
_CRC: Final = 4
_TEXT: Final = 7
"""The type of a header with a string value, the only one that LLM APIs use."""


class BodyFrames(Struct):
    """The JSON values of an answer, in order."""

    items: Iterable[JsonValue] = ()
    """An iterable for one pass, which holds one item at a time."""
    complete: bool = False
    """Whether they are one value or one array, not a stream."""
    cut: bool = False
    """Whether such a value is cut."""
    done: bool = False
    """Whether a stream has its end marker; known after the last item."""
    error: str | None = None
    """Why nothing can be read, if so."""


class EventReader:
    """Reads the events of a stream as they come, so that reading them all is not left to its end.

    What is not a stream of events it leaves to ``split_frames``.
    """

    def __init__(self) -> None:
        self.taken = 0
        """Bytes of the body that were read."""
        self.done = False
        """Whether the stream has its end marker."""
        self._searched = 0
        self._is_other = False

    def read(self, body: bytearray) -> Iterator[JsonValue]:
        """Yield the values of the events that are complete now; ``body`` is all that came."""
        if self.done or self._is_other:
            return
        places = ((body.rfind(end, self._searched), len(end)) for end in _EVENT_ENDS)
        end = max((at + size for at, size in places if at >= 0), default=0)
        self._searched = max(self.taken, len(body) - 3)
        if not end:
            return
        events = bytes(memoryview(body)[self.taken : end])
        if not (self.taken or _SSE_FIELD.match(events.removeprefix(_BOM))):
            self._is_other = True
            return
        self.taken = self._searched = end
        yield from _event_values(events, self)


def split_frames(
    body: bytes, content_type: str = "", read: EventReader | None = None
) -> BodyFrames:
    """Split a decompressed body, which may be cut; skip what is not JSON; raise nothing.

    ``read``: what has read its first events; they are left out.
    """
    if read is not None and read.taken:
        rest = BodyFrames(done=read.done)
        rest.items = () if read.done else _events(body, rest, read.taken)
        return rest
    if is_aws(content_type):
        return BodyFrames(_messages(body))
    begin = body.lstrip()[:1]
    if begin in (b"{", b"["):
        return _json(body)
    if not begin:
        return BodyFrames()
    if not _SSE_FIELD.match(body.removeprefix(_BOM)):
        return BodyFrames(error="the answer is not JSON")
    stream = BodyFrames()
    stream.items = _events(body, stream)
    return stream


def _events(body: bytes, stream: BodyFrames, begin: int = 0) -> Iterator[JsonValue]:
    yield from _event_values(body[begin:], stream)
    if not stream.done and (error := _PLAIN_ERROR.search(body, max(0, len(body) - _LONGEST_ERROR))):
        yield from _readable([error[0]])


def _event_values(body: bytes, stream: BodyFrames | EventReader) -> Iterator[JsonValue]:
    for data in sse_data(body):
        if data.strip() == _DONE:
            stream.done = True
            return
        try:
            yield parse_json(data if data.isascii() else data.decode(errors="replace").encode())
        except ValueError:
            continue  # The stream was cut here.


def stream_chunks(body: bytes, content_type: str = "") -> list[bytes]:
    """Split a body into chunks as its server would send them.

    A stream is split after each event, line or message, any other body into sixteen chunks.
    """
    if len(events := stream_events(body, content_type)) > 1:
        return events
    size = max(1, -(-len(body) // 16))
    return [body[at : at + size] for at in range(0, len(body), size)]


def stream_events(body: bytes, content_type: str = "") -> list[bytes]:
    """Split the body of a stream after each event, line or message."""
    if is_aws(content_type):
        return [*_message_bytes(body)]
    return [piece for piece in _STREAMED.split(body) if piece]


def array_items(body: bytes) -> list[bytes]:
    """Split an array of objects, whole or cut, after each object and its comma."""
    text, items, begin = body.decode(errors="surrogateescape"), [], 0
    while (start := text.find("{", begin)) >= 0:
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        end = text.find("{", end) if text.find("{", end) >= 0 else len(text)
        items.append(text[begin:end])
        begin = end
    if begin < len(text):
        items.append(text[begin:])
    return [item.encode(errors="surrogateescape") for item in items]


def is_aws(content_type: str) -> bool:
    """Whether a stream consists of AWS's messages."""
    return content_type.lower().startswith(EVENT_STREAM)


def is_done(event: bytes) -> bool:
    """Whether an event is the end marker of OpenAI's streams."""
    return any(data.strip() == _DONE for data in sse_data(event))


def sse_data(body: bytes) -> Iterator[bytes]:
    """Yield the data of each server-sent event (WHATWG HTML, section 9.2), whole or cut.

    Unlike in a browser, a last event without a blank line is yielded too: some servers end so.
    """
    data: list[bytes] = []
    for line in _lines(body.removeprefix(_BOM), _LINE_END):
        if not line:
            if data:
                yield b"\n".join(data)
                data = []
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
    if data:
        yield b"\n".join(data)


def _lines(body: bytes, ends: re.Pattern[bytes]) -> Iterator[bytes]:
    begin = 0
    if b"\r" not in body:
        while (newline := body.find(b"\n", begin)) >= 0:
            yield body[begin:newline]
            begin = newline + 1
        yield body[begin:]
        return
    for end in ends.finditer(body):
        yield body[begin : end.start()]
        begin = end.end()
    yield body[begin:]


def _json(body: bytes) -> BodyFrames:
    """Read a value, whole or cut, or one on each line (NDJSON)."""
    try:
        return BodyFrames(_items(parse_json(body)), complete=True)
    except ValueError:
        first, _, rest = body.partition(b"\n")
    # The first line of a value over several lines is not JSON.
    if rest.strip(b"\n") and any(True for _ in _readable([first])):
        return BodyFrames(_readable(_lines(body, _NEWLINE)))
    try:
        return BodyFrames(_items(parse_json(body, cut=True)), complete=True, cut=True)
    except ValueError:
        is_long = has_too_many_values(body)
        return BodyFrames(error=TOO_MANY_VALUES if is_long else "the answer is not JSON")


def _items(value: JsonValue) -> tuple[JsonValue, ...]:
    return tuple(value) if isinstance(value, list) else (value,)


def _readable(texts: Iterable[bytes]) -> Iterator[JsonValue]:
    for text in texts:
        try:
            yield parse_json(text)
        except ValueError:
            continue  # The stream was cut here.


def _messages(body: bytes) -> Iterator[JsonValue]:
    """Yield AWS's messages as ``{type: payload}``, up to one that is cut or damaged."""
    for message in _message_bytes(body):
        if len(message) < _PRELUDE.size + _CRC:
            return
        length, headers, check = _PRELUDE.unpack_from(message)
        begin = _PRELUDE.size + headers
        sound = (
            begin + _CRC <= length == len(message)
            and zlib.crc32(message[:8]) == check
            and zlib.crc32(message[:-_CRC]) == int.from_bytes(message[-_CRC:], "big")
        )
        if not sound:
            return
        names = _headers(message[_PRELUDE.size : begin])
        kind = names.get(":event-type")
        for payload in _readable([message[begin:-_CRC] or b"{}"]):
            yield {kind: payload} if kind else {"error": _aws_error(names, payload)}


def _aws_error(names: Mapping[str, str], payload: JsonValue) -> JsonValue:
    """Return an exception that the API declares, or another error of AWS."""
    kind = names.get(":exception-type") or names.get(":error-code") or "an error without a name"
    message = as_text(as_dict(payload).get("message")) or names.get(":error-message") or ""
    return {"type": kind, "message": f"{kind}: {message}" if message else kind}


def with_payload(message: bytes, payload: bytes) -> bytes:
    """Return one of AWS's messages with another payload, and sums that are right for it."""
    headers = int.from_bytes(message[4:8], "big")
    prelude = struct.pack(">II", _PRELUDE.size + headers + len(payload) + _CRC, headers)
    head = message[_PRELUDE.size : _PRELUDE.size + headers]
    changed = prelude + zlib.crc32(prelude).to_bytes(4, "big") + head + payload
    return changed + zlib.crc32(changed).to_bytes(_CRC, "big")


def payload_of(message: bytes) -> bytes:
    """Return the payload of one of AWS's messages."""
    begin = _PRELUDE.size + int.from_bytes(message[4:8], "big")
    return message[begin:-_CRC]


def _message_bytes(body: bytes) -> Iterator[bytes]:
    """Yield the bytes of AWS's messages; a rest that cannot be split is one."""
    at = 0
    while at < len(body):
        length = int.from_bytes(body[at : at + 4], "big")
        end = at + length if length >= _PRELUDE.size + _CRC else len(body)
        yield body[at:end]
        at = end


def _headers(block: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    while at < len(block):
        name_end = at + 1 + block[at]
        if block[name_end : name_end + 1] != bytes([_TEXT]):
            break
        value = name_end + 3
        end = value + int.from_bytes(block[name_end + 1 : value], "big")
        headers[block[at + 1 : name_end].decode(errors="replace")] = block[value:end].decode(
            errors="replace"
        )
        at = end
    return headers
