"""Escapes control characters in untrusted text before it is displayed.

Names, URLs, page titles and error messages come from agents, sites and files. Characters that a
terminal or browser interprets (ESC, other controls, bidirectional marks) are made visible.
"""

import re
from typing import Final

from warex.text.lazy_pattern import lazy_re

_OBEYED: Final = lazy_re(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufff9-\ufffb"
    "\ud800-\udfff]"
)
"""Controls except line feed and tab, bidirectional marks, line separators, lone surrogates."""


def escape_controls(text: str) -> str:
    """Return the text with each control character replaced by a visible symbol: ␛ for ESC."""
    return _OBEYED.sub(_sign, text)


def in_backticks(text: str) -> str:
    """Return a text such as a pattern between backticks, without doubled backslashes."""
    return f"`{escape_controls(text)}`"


def escape_controls_in_json(text: str) -> str:
    """Return a JSON text with control characters escaped; its value stays the same."""
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def escape_surrogates(text: str) -> str:
    r"""Return a text that UTF-8 can encode: a lone surrogate becomes ``\udcff``.

    Python reads each byte of a command line or a file name that is not UTF-8 as a lone surrogate.
    """
    return text.encode("utf-8", "backslashreplace").decode()


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"
