"""Reads the rules of style sheets, in linear time, as far as a site's look needs them.

Conditions are taken to hold as on a wide, light screen; what is nested within a rule is left out.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from warex.text.lazy_pattern import lazy_re

_BRACE: Final = lazy_re(r"([{}])")
_ENTERED: Final = lazy_re(r"@(?:media|supports|layer|container|scope)\b", re.ASCII)
_OTHER_SCREEN: Final = lazy_re(r"print|dark|max-width|max-device|forced-colors|speech|width\s*<")
_WANTED: Final = ("background", "background-color", "color", "font", "font-family", "border-radius")
_STATE: Final = lazy_re(r":(?!root\b|where\(|is\(|host\b)")
_MOST: Final = 20_000
"""Rules of a sheet that are read."""
_LONGEST: Final = 400
"""Characters of a value that is kept, and of a selector."""


class StyleRule(NamedTuple):
    """One selector with the declarations that matter."""

    selector: str
    values: dict[str, str]
    """By property; ``--custom`` ones, too. ``!important`` stays in the value."""


def rules_of(sheet: str) -> Iterator[StyleRule]:
    """Yield the rules of a style sheet, in order."""
    skipped, depth, opened, count = 0, 0, "", 0
    pieces = iter(_BRACE.split(_without_comments(sheet)))
    for text, mark in zip(pieces, pieces, strict=False):
        if mark == "{":
            head = text.rpartition(";")[2].strip()
            if opened or skipped:
                # Within a rule, or a block that does not apply.
                skipped += 1
            elif head.startswith("@"):
                entered = _ENTERED.match(head) and not _OTHER_SCREEN.search(head)
                skipped, depth = (0, depth + 1) if entered else (1, depth)
            else:
                opened = head
        elif skipped:
            skipped -= 1
        elif opened:
            count += 1
            if count > _MOST:
                return
            yield from _rule(opened, text)
            opened = ""
        else:
            depth = max(depth - 1, 0)


def _without_comments(sheet: str) -> str:
    first, *others = sheet.split("/*")
    return first + " ".join(part.partition("*/")[2] for part in others)


def declarations(text: str) -> dict[str, str]:
    """Return the declarations that matter, of a rule or a ``style`` attribute."""
    values = {}
    for part in text.split(";"):
        name, mark, value = part.partition(":")
        name = name.strip()
        if mark and len(value) <= _LONGEST and (name in _WANTED or name.startswith("--")):
            values[name] = value.strip()
    return values


def background_of(values: Mapping[str, str]) -> str:
    """Return the value that has the colour behind an element; empty for none."""
    return values.get("background-color") or values.get("background", "")


def _rule(selectors: str, body: str) -> Iterator[StyleRule]:
    values = declarations(body)
    if not values:
        return
    for selector in selectors.split(",") if "(" not in selectors else (selectors,):
        if len(selector) <= _LONGEST and not _STATE.search(selector):
            yield StyleRule(selector.strip(), values)
