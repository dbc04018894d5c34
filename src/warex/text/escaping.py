"""Text made fit to be shown: that of strangers, and counted nouns.

Names, URLs, page titles and error messages come from agents, sites and files of others. What a
terminal or a browser would obey in them (ESC and the other control characters, marks that turn the
direction of writing) is shown as a sign in its place.
"""

import re
from typing import Final

_OBEYED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
    "\ud800-\udfff]"
)
"""Control characters but line feed and tab, marks of direction, lines' ends, half characters."""


def escape_controls(text: str) -> str:
    """Return the text with a sign for each character that would be obeyed: ␛ for ESC."""
    return _OBEYED.sub(_sign, text)


def in_backticks(text: str) -> str:
    """Return a pattern or the like as it was written, between backticks: no sign is doubled."""
    return f"`{escape_controls(text)}`"


def escape_controls_in_json(text: str) -> str:
    """Return a JSON text with such characters escaped, so that it still says the same."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"
