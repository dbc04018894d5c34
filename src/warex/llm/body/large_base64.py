"""Replaces long base64 strings of a large body by short placeholders while its JSON is read.

Otherwise each screenshot of a call would be in memory twice: in the body and as a string.
"""

import binascii
import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec import Struct, field
from pydantic import JsonValue

_LARGE: Final = 1_000_000
"""Bytes; a smaller body is read as it is."""
_LONG: Final = 64 * 1024
"""Characters of a string, or of the part of a data URL behind the comma (RFC 2397)."""


class OmittedBase64(Struct, frozen=True):
    """The strings that were replaced in a body."""

    name: str = ""
    """The prefix of the placeholders; it occurs in no body by chance."""
    texts: Mapping[str, memoryview] = field(default_factory=dict)
    """The strings, as views of the body, by their placeholders, which are base64 too."""

    def __bool__(self) -> bool:
        return bool(self.texts)

    def restore(self, body: bytes) -> bytes:
        """Return a body with all strings put back."""
        if not self:
            return body
        parts = re.split(b"(%s[0-9]{8})" % self.name.encode(), body)
        return b"".join(self.texts.get(part.decode("latin-1"), part) for part in parts)

    def put_back(self, value: JsonValue, but: Collection[str] = ()) -> JsonValue:
        """Return a value with the strings put back, except for some placeholders."""
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
    """Return a body without its long base64 strings, and these."""
    spans = list(_long_spans(body)) if len(body) >= _LARGE else []
    if not spans:
        return body, NOTHING_OMITTED
    view, name = memoryview(body), hashlib.sha256(body).hexdigest()
    parts: list[bytes | memoryview] = []
    texts: dict[str, memoryview] = {}
    last = 0
    for number, (begin, end) in enumerate(spans):
        stand_in = f"{name}{number:08d}"
        texts[stand_in] = view[begin:end]
        parts += view[last:begin], stand_in.encode()
        last = end
    return b"".join([*parts, view[last:]]), OmittedBase64(name, texts)


def _long_spans(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield where long base64 stands, up to the end of a JSON string."""
    at = 0
    while (end := body.find(b'"', at + _LONG)) >= 0:
        # Any shorter string before this one is passed over.
        begin = max(body.rfind(b'"', at, end), body.rfind(b",", at, end), at - 1) + 1
        if (
            end - begin >= _LONG
            and body[begin - 1 : begin] in (b'"', b",")
            and _is_base64(body, begin, end)
        ):
            yield begin, end
        at = end


def _is_base64(body: bytes, begin: int, end: int) -> bool:
    try:
        binascii.a2b_base64(memoryview(body)[begin:end], strict_mode=True)
    except ValueError:
        return False
    return True
