"""Leaves long texts in base64 out of a large body while its JSON is read.

A call with screenshots is base64 nearly throughout. Read as it is, each of them is held twice: in
the body, which is still to be sent, and as a text of its own. So a short text stands in for each,
and what it stands for is found in the body itself.
"""

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

_LARGE: Final = 1_000_000
"""Bytes: a smaller body is read as it is."""
_LONG: Final = re.compile(rb'[",]([A-Za-z0-9+/]{65536,}+={0,2}+)"')
"""A text of JSON, or what stands behind the comma of a data URL (RFC 2397)."""


@dataclass(frozen=True, slots=True)
class OmittedBase64:
    """What was left out of a body."""

    name: str = ""
    """What every stand-in begins with; it occurs in no body but by intent."""
    texts: Mapping[str, memoryview] = field(default_factory=dict)
    """What was left out, where it is in the body, by its stand-in, which is base64, too."""

    def __bool__(self) -> bool:
        return bool(self.texts)

    def whole(self, body: bytes) -> bytes:
        """Return a body with everything in its place."""
        if not self:
            return body
        stand_in = re.compile(b"(%s[0-9]{8})" % self.name.encode())
        parts = stand_in.split(body)
        return b"".join(self.texts.get(part.decode("latin-1"), part) for part in parts)

    def put_back(self, value: JsonValue, but: Collection[str] = ()) -> JsonValue:
        """Return a value with everything in its place, but for some stand-ins."""
        match value:
            case str() if self.name in value:
                for stand_in, text in self.texts.items():
                    if stand_in not in but and stand_in in value:
                        value = value.replace(stand_in, bytes(text).decode())
                return value
            case list():
                return [self.put_back(item, but) for item in value]
            case dict():
                return {
                    str(self.put_back(key, but)): self.put_back(item, but)
                    for key, item in value.items()
                }
            case _:
                return value


NOTHING_OMITTED: Final = OmittedBase64()


def omit_base64(body: bytes) -> tuple[bytes, OmittedBase64]:
    """Return a body without its long texts in base64, and these."""
    found = [each.span(1) for each in _LONG.finditer(body)] if len(body) >= _LARGE else []
    if not found:
        return body, NOTHING_OMITTED
    view, name = memoryview(body), hashlib.sha256(body).hexdigest()
    kept: list[bytes | memoryview] = []
    texts: dict[str, memoryview] = {}
    last = 0
    for number, (begin, end) in enumerate(found):
        stand_in = f"{name}{number:08d}"
        texts[stand_in] = view[begin:end]
        kept += view[last:begin], stand_in.encode()
        last = end
    return b"".join([*kept, view[last:]]), OmittedBase64(name, texts)
