"""Bounds what redaction does for one event, since other clients wait meanwhile.

The bound is a number of steps, not a time: equal events give equal traces.
"""

import json
import re
from typing import Final

from msgspec import Struct

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.token_patterns import REDACTED

MOST: Final = 16_000
"""Steps for one event. A step takes some 3 µs."""
BODY: Final = 16 * MOST
"""Steps for a body that is kept, if that is asked for: minified programs have many names."""
REPLACED: Final = 10
"""Steps for a secret that is replaced; a place that may have one takes one step."""
_LEAST: Final = 80
"""Steps for one kind of secret while any are left."""
_PART: Final = 4
"""One kind may take a fourth of the steps that are left, since a text may have several kinds."""
_BEFORE: Final = 512
"""Bytes before a name in which its value may stand."""
_LONGEST_WORD: Final = 4096
_SPACE = lazy_re(rb"\s")
_VALUE = lazy_re(rb'"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*')


class Effort(Struct):
    """The steps that are left for one event."""

    left: int = MOST
    cuts: int = 0
    """How often the rest of a text, or a value, was replaced as a whole."""

    def renew(self, steps: int = MOST) -> None:
        """Begin the next event, or body."""
        self.left, self.cuts = steps, 0

    def may_take(self, steps: int) -> bool:
        """Take steps for a value of JSON; return whether there were any left."""
        if self.left <= 0:
            self.cuts += 1
            return False
        self.left -= steps
        return True

    def share(self) -> int:
        """Return the steps for one kind of secret in one text."""
        return max(_LEAST, self.left // _PART) if self.left > 0 else 0

    def without_rest(self, text: bytes, place: int) -> bytes:
        """Return the text with all that may be a secret of the rest, from a place on, replaced.

        Less stays than stands before the place, since a name may follow its value, and half a
        secret is not recognised. JSON stays valid JSON.
        """
        self.cuts += 1
        begin = max(0, place - _BEFORE)
        if _is_json(text):
            shorter = _without_values(text, begin)
            return shorter if shorter != text else b'"[redacted:%d:more]"' % len(text)
        words = text[max(0, begin - _LONGEST_WORD) : begin]
        begin -= len(words) - max((space.end() for space in _SPACE.finditer(words)), default=0)
        while begin and text[begin] & 0xC0 == 0x80:  # Within a character in UTF-8.
            begin -= 1
        return b"%s[redacted:%d:more]" % (text[:begin], len(text) - begin)


def _is_json(text: bytes) -> bool:
    if text.lstrip()[:1] not in (b"{", b"[", b'"'):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without_values(text: bytes, begin: int) -> bytes:
    """Return JSON with the strings and numbers replaced that end behind a place."""
    instead = f'"{REDACTED}"'.encode()

    def replaced(value: re.Match[bytes]) -> bytes:
        return value[0] if value.end() <= begin else instead

    return _VALUE.sub(replaced, text)
