"""Model calls in which one value is malformed."""

import base64
import json
import re
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st
from pydantic import JsonValue

from tests.llm.families.vectors import Vector
from warex.llm.body.framing import split_frames
from warex.llm.body.lenient_json import as_dict, as_text
from warex.llm.families.writing import aws_message_of

BAD: Sequence[bytes] = (
    b"null", b"true", b"-1", b"1" + b"0" * 30, b"1e30", b"-0.5", b"1e999", b"NaN", b"1" * 5000,
    b'""', b'"7"', b"[]", b"{}", b"[[null]]", b'{"a": 1, "a": []}', b'"\\ud800"', b'"\xff"',
    b"[" * 150 + b"]" * 150, b"[" * 100_000 + b"]" * 100_000, b"[" * 100_000, b'{"a":' * 100_000,
)  # fmt: skip
"""Wrong types, impossible numbers, invalid text, and very deep nesting."""
_HERE = "put it here"


def malformed(value: JsonValue, data: st.DataObject) -> bytes:
    """Return a value as JSON in which one place at any depth has a bad value."""
    at = data.draw(st.sampled_from(list(_places(value))))
    bad = BAD[data.draw(st.integers(0, len(BAD) - 1))]
    return json.dumps(_put(value, at)).encode().replace(f'"{_HERE}"'.encode(), bad)


def malformed_answer(vector: Vector, data: st.DataObject) -> bytes:
    """Return a vector's answer in which one place of one of its values has a bad value."""
    if vector.content_type.startswith("application/vnd"):
        return vector.body + _malformed_message(vector, data)
    documents = [each for each in _DOCUMENT.finditer(vector.body) if _is_json(each[0])]
    if not documents:
        return vector.body
    result = data.draw(st.sampled_from(documents))
    changed = malformed(json.loads(result[0]), data)
    return vector.body[: result.start()] + changed + vector.body[result.end() :]


def _malformed_message(vector: Vector, data: st.DataObject) -> bytes:
    items = list(split_frames(vector.body, vector.content_type).items) or [{"chunk": {}}]
    ((kind, payload),) = as_dict(data.draw(st.sampled_from(items))).items()
    content = malformed(payload, data)
    # InvokeModel's events hold JSON in base64.
    pending = base64.b64decode(as_text(as_dict(payload).get("bytes")))
    if _is_json(pending) and data.draw(st.booleans()):
        inner = malformed(json.loads(pending), data)
        content = json.dumps({"bytes": base64.b64encode(inner).decode()}).encode()
    return aws_message_of(kind, content)


_DOCUMENT = re.compile(rb"(?<=^data: )\{.*\}$|^[\[{].*[\]}]$", re.MULTILINE)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


type _Place = tuple[str | int, ...]


def _places(value: JsonValue, at: _Place = ()) -> Iterator[_Place]:
    yield at
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _places(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _places(item, (*at, index))


def _put(value: JsonValue, at: _Place) -> JsonValue:
    if not at:
        return _HERE
    if isinstance(value, dict):
        return {key: _put(v, at[1:]) if key == at[0] else v for key, v in value.items()}
    assert isinstance(value, list)
    return [_put(v, at[1:]) if index == at[0] else v for index, v in enumerate(value)]
