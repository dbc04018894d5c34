"""Breaks the JSON of one event of a stream, and leaves the event's form whole."""

from warex.llm.body.framing import is_aws, payload_of, with_payload
from warex.text.lazy_pattern import lazy_re

_DATA = lazy_re(rb"(?m)^(data:[ ]?)([^\r\n]*)")


def break_event(event: bytes, content_type: str) -> bytes:
    """Return an event, a line or a message whose JSON breaks off; its framing stays valid."""
    if is_aws(content_type):
        return with_payload(event, broken(payload_of(event)))
    if _DATA.search(event):
        return _DATA.sub(lambda line: line[1] + broken(line[2]), event)
    return broken(event)


def broken(text: bytes) -> bytes:
    """Return the first two thirds of an object's text, and what surrounds it."""
    begin, end = text.find(b"{"), text.rfind(b"}") + 1
    if begin < 0 or end <= begin:
        return text
    cut = begin + max(1, (end - begin) * 2 // 3)
    return text[:cut] + text[end:]
