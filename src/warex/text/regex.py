"""Regular expressions that a user writes, matched in time linear in the text (RE2).

The texts come from sites and agents. Python's own engine backtracks, so one long URL can block a
process for hours. The syntax is Python's; what RE2 cannot express (look-around, back-references,
atomic groups) is refused. ``\\b`` treats only ASCII letters as letters.
"""

import re
import sys
import unicodedata
import warnings
from collections import deque
from collections.abc import Iterator
from functools import cache
from typing import Final

from msgspec import Struct

from warex.text.escaping import in_backticks
from warex.text.lazy_pattern import lazy_re


class RegexError(ValueError):
    """The pattern cannot be used; the message shows it."""


class RegexMatch(Struct, frozen=True):
    """One match."""

    groups: tuple[str | None, ...]
    named: dict[str, str]
    """The named groups; empty for one that did not participate."""


class Regex:
    """A compiled pattern. Raises RegexError if it is invalid or cannot match in linear time."""

    __slots__ = ("_compiled", "_names")

    def __init__(self, pattern: str, *, multiline: bool = False) -> None:
        """``multiline``: ``^`` and ``$`` match at lines."""
        _require_pythons(pattern)
        # Imported here because most programs never use a pattern.
        import re2

        options = re2.Options()
        options.log_errors = False
        translated = ("(?m)" if multiline else "") + "".join(_in_re2(pattern))
        try:
            self._compiled = re2.compile(translated.encode(), options)
        except re2.error as error:
            reason = error.args[0].decode("utf-8", "replace")
            raise _cannot(pattern, f"RE2 says: {reason}") from None
        except UnicodeEncodeError:
            raise RegexError(f"{_shown(pattern)} holds half a surrogate pair") from None
        self._names = {name.decode(): place for name, place in self._compiled.groupindex.items()}

    @property
    def groups(self) -> int:
        """The number of groups."""
        count: int = self._compiled.groups
        return count

    @property
    def names(self) -> frozenset[str]:
        """The names of its groups."""
        return frozenset(self._names)

    def matches(self, text: str) -> bool:
        """Whether it matches somewhere in the text."""
        return self._compiled.search(_bytes(text)) is not None

    def last_match(self, text: str) -> RegexMatch | None:
        """Return the last of the non-overlapping matches, or None."""
        one = deque(self._compiled.finditer(_bytes(text)), maxlen=1)
        if not one:
            return None
        last = one.pop()
        groups = tuple(each if each is None else each.decode() for each in last.groups())
        return RegexMatch(groups, {name: groups[at - 1] or "" for name, at in self._names.items()})


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _require_pythons(pattern: str) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise RegexError(f"{_shown(pattern)} is not a regular expression: {error}") from None


def _shown(pattern: str) -> str:
    return in_backticks(pattern if len(pattern) <= 200 else f"{pattern[:200]}…")


def _cannot(pattern: str, why: str) -> RegexError:
    return RegexError(
        f"{_shown(pattern)} cannot be matched in time linear in the text: {why}. Write it without;"
        " where that says too little, split it into several rules"
    )


_TOKEN: Final = lazy_re(
    r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|N\{[^}]*\}|0[0-7]{0,2}|[0-3][0-7]{2}"
    r"|[1-9][0-9]?|.)"
    r"|\(\?(?:\#[^)]*\)|<?[=!]|P=|[(>])|[*+?}]\+|\{,(?=\d*\})|\[\^?\]?|.",
    re.DOTALL,
)
"""An escape, a group that RE2 lacks, a repetition without its minimum, a class, a character."""

_LACKS: Final = {
    "(?=": "it looks ahead, (?=…)",
    "(?!": "it looks ahead, (?!…)",
    "(?<=": "it looks behind, (?<=…)",
    "(?<!": "it looks behind, (?<!…)",
    "(?P=": "it refers back to a group, (?P=…)",
    "(?(": "it depends on a group, (?(…)…)",
    "(?>": "it has an atomic group, (?>…)",
    "*+": "it has a possessive repetition, *+",
    "++": "it has a possessive repetition, ++",
    "?+": "it has a possessive repetition, ?+",
}

_CLASSES: Final = {
    "d": r"\p{Nd}",
    "w": r"\pL\pN_",
    "s": r"\t-\r\x1c-\x20\x{85}\p{Z}",
    "D": r"\P{Nd}",
}
"""``\\d``, ``\\w`` and ``\\s`` as Python defines them; RE2's are ASCII only."""


def _in_re2(pattern: str) -> Iterator[str]:
    """Yield the pattern's parts in RE2's syntax."""
    in_class = False
    for match in _TOKEN.finditer(pattern):
        token = match[0]
        if token[0] == "\\":
            yield _escape(pattern, token[1:], in_class)
        elif in_class:
            # RE2 reads [: as the start of [:alpha:].
            yield from (f"\\{each}" if each == "[" else each for each in token)
            in_class = token[-1] != "]"
        elif token[0] == "[":
            in_class = True
            yield token.replace("]", r"\]")
        elif token in _LACKS:
            raise _cannot(pattern, _LACKS[token])
        elif token == "}+" and re.search(r"\{\d*,?\d*$", pattern[: match.start()]):
            raise _cannot(pattern, "it has a possessive repetition, }+")
        elif not token.startswith("(?#"):
            yield "{0," if token == "{," else token


def _escape(pattern: str, escape: str, in_class: bool) -> str:
    kind = escape[0]
    if kind in _CLASSES:
        return _CLASSES[kind] if in_class else f"[{_CLASSES[kind]}]"
    if kind in "WS":
        return _all_but(kind.lower()) if in_class else f"[^{_CLASSES[kind.lower()]}]"
    if kind in "uUx":
        return rf"\x{{{escape[1:]}}}"
    if kind == "N":
        return rf"\x{{{ord(unicodedata.lookup(escape[2:-1])):x}}}"
    if kind.isdigit():
        if in_class or kind == "0" or len(escape) == 3:
            return rf"\x{{{int(escape, 8):x}}}"
        raise _cannot(pattern, rf"it refers back to a group, \{escape}")
    if kind == "Z":
        return r"\z"
    if in_class and kind == "b":
        return r"\x08"
    if kind in "AbBafnrtv":
        return f"\\{kind}"
    return kind if kind == "_" or not kind.isascii() else f"\\{kind}"


_LAST_SPACE: Final = 0x3000


@cache
def _all_but(kind: str) -> str:
    """Return the complement of a class as ranges: RE2 has no complement inside a class."""
    end = sys.maxunicode if kind == "w" else _LAST_SPACE + 1
    runs = re.findall(rf"[^\{kind}]+", "".join(map(chr, range(end + 1))))
    ranges = [(ord(run[0]), ord(run[-1])) for run in runs]
    ranges[-1] = (ranges[-1][0], sys.maxunicode)
    return "".join(rf"\x{{{first:x}}}-\x{{{last:x}}}" for first, last in ranges)
