"""Documents of the viewer as JSON."""

import json

import msgspec


def as_json(document: object) -> bytes:
    """Return a document as JSON, also with what msgspec cannot write.

    That is a lone surrogate, which UTF-8 cannot hold, and an integer of more than 64 bits.
    """
    try:
        return msgspec.json.encode(document)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(document, default=_decoded).encode()


def _decoded(part: object) -> object:
    """Return what is JSON already as an object."""
    if isinstance(part, msgspec.Raw):
        return json.loads(bytes(part))
    raise TypeError(f"{type(part)} is not JSON")
