"""JSON that every program reads: a damaged trace may hold numbers that JSON has no word for."""

import json
from typing import Any


def encode_strictly(value: object, indent: int | None = None) -> bytes:
    """Return a value as JSON in ASCII; NaN and infinities are null."""
    try:
        text = json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
        text = json.dumps(finite, indent=indent)
    return text.encode("ascii")


def sanitize(value: object) -> Any:
    """Return a value as plain data that any JSON library writes.

    NaN and infinities are null; lone surrogates are question marks.
    """
    plain = json.loads(encode_strictly(value))
    return json.loads(json.dumps(plain, ensure_ascii=False).encode("utf-8", "replace"))
