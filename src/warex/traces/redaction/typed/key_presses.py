"""Finds secrets that code types key by key: ``keyboard.press('h')``, ``keyboard.press('u')``…"""

from collections.abc import Collection

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.typed.actions import names_field_before
from warex.traces.redaction.typed.fields import is_field

_NAME = rb"(?i:key_?press|press_?key|press|send_?keys?|key_?down|insert_?text|typewrite|type)"
_PREFILTER = rb"(?i)(?:press|key|type|text)\w{0,12}[ \t]*\([^()\n]{0,160}[\"'`][^\n][\"'`]"
_PRESS = lazy_re(
    _NAME
    + rb"\w{0,12}[ \t]*\(\s*(?:(\\*[\"'`])((?:(?!\1)[^\\\n]){2,120})\1\s*,\s*)?"
    + rb"(?:\w+\s*[=:]\s*)?(\\*[\"'`])([^\\\n])\3\s*[,)]"
)
_KEY = lazy_re(
    _NAME + rb"\w{0,12}[ \t]*\(\s*[\"'](?:Tab|Enter|Return|Escape)|\.(?:click|focus|goto)\("
)


def key_presses(
    text: bytes, refs: Collection[str] = (), *, focused: bool = False
) -> tuple[list[tuple[int, int]], bytes]:
    """Return where code presses a key in a field for a secret, and the keys together.

    ``focused``: the field that was named last is one.
    """
    if compiled(_PREFILTER).search(text) is None:
        return [], b""
    spans: list[tuple[int, int]] = []
    done = 0
    is_secret = focused
    for press in _PRESS.finditer(text):
        between = text[done : press.start()]
        if press[2] is not None:
            is_secret = is_field(press[2].decode("utf-8", "replace"), refs)
        elif done == 0 or _KEY.search(between):
            named = names_field_before(text, press.start(), refs)
            is_secret = focused and done == 0 if named is None else named
        done = press.end()
        if is_secret:
            spans.append(press.span(4))
    return spans, b"".join(text[slice(*span)] for span in spans)
