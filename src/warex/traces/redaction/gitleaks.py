"""Finds secrets by their shape: the tokens and keys of over a hundred vendors.

The rules are those of gitleaks, from a file in the package maskerlogger. That package's code is not
run: RE2 matches all rules in one pass, in linear time.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import re2
import tomli
from msgspec import Struct

from warex.errors import MachineError
from warex.text.lazy_pattern import lazy_re

_PACKAGE, _RULES = "maskerlogger", "config/gitleaks.toml"

_END = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
"""The end of a token in gitleaks' rules, which suits only source code."""
_OVER = r"(?:[^\w-]|$)"
_BEGIN = r"(?:\b|\\[nrtbf]|\\u[0-9a-f]{4}|%[0-9A-Fa-f]{2})"
"""The beginning of a token, also behind an escape of JSON or of a URL."""
_BY_CONTEXT = "{0,50}?"
"""Part of each rule for a value behind a vendor's name."""
_NEAR = 64
"""Bytes before a match that may contain its rule's keyword."""
_COUNTED = lazy_re(r"(?:\(\?i\)|\\b|\(\?:\\b\|.*?\{2\}\)|\((?!\?))*(?:\[|\\d|\(\?:\^)|.*sgp_")
"""A pattern that begins with a class, not with a literal."""
_TOKEN = lazy_re(rb"[A-Za-z0-9_-]*")
_STOP = lazy_re(rb"[\\\"]")
_OWN_NAMES = frozenset({"curl-auth-header", "curl-auth-user", "generic-api-key", "private-key"})
"""Rules that WAREX replaces by its own."""


class SecretRule(Struct, frozen=True):
    """One kind of token."""

    name: str
    pattern: str
    keywords: tuple[bytes, ...]
    entropy: float
    """The minimum in bits per character."""

    def find(self, text: bytes, lower: bytes) -> Iterator[tuple[int, int]]:
        """Yield the spans of secrets; ``lower`` is the text in lower case."""
        for match in compiled(self.pattern.encode()).finditer(text):
            group = next((n for n in range(1, (match.lastindex or 0) + 1) if match.group(n)), 0)
            begin, end = match.span(group)
            stop = _STOP.search(text, begin, end)
            if stop is not None:
                # Do not split an escape, or include a closing quote.
                end = stop.start()
            near = lower[max(0, match.start() - _NEAR) : match.end()]
            word = next((word for word in self.keywords if word in near), None)
            secret = text[begin:end]
            if word is None or entropy(secret) < self.entropy:
                continue
            if len(word) < 3 and not any(48 <= sign <= 57 for sign in secret):
                continue
            rest = _TOKEN.match(text, end)
            yield begin, rest.end() if rest else end


def entropy(secret: bytes) -> float:
    """Return the Shannon entropy in bits per byte."""
    counts, size = Counter(secret).values(), len(secret)
    return -sum(count / size * math.log2(count / size) for count in counts) if size else 0.0


@cache
def shape_rules(*, anchored: bool) -> tuple[SecretRule, ...]:
    """Return the rules for a shape that begins with a literal, or for the others.

    The others are slow in one pass.
    """
    shapes = (_adapted(rule) for rule in _usable() if _BY_CONTEXT not in rule["regex"])
    return tuple(rule for rule in shapes if (_COUNTED.match(rule.pattern) is None) is anchored)


@cache
def context_rules() -> dict[bytes, tuple[SecretRule, ...]]:
    """Return, by keyword, the rules for a value behind a vendor's name."""
    by_word: dict[bytes, list[SecretRule]] = {}
    for rule in _usable():
        if _BY_CONTEXT in rule["regex"]:
            for word in rule["keywords"]:
                by_word.setdefault(word.lower().encode(), []).append(_adapted(rule))
    return {word: tuple(rules) for word, rules in by_word.items()}


def _usable() -> Iterator[dict[str, Any]]:
    for rule in _read():
        # Rules with a path are for file names.
        if "regex" in rule and "path" not in rule and rule["id"] not in _OWN_NAMES:
            yield rule


def _adapted(rule: dict[str, Any]) -> SecretRule:
    pattern = rule["regex"].replace(_END, _OVER)
    for begin in (r"\b", r"(?i)\b"):
        if pattern.startswith(begin):
            pattern = begin.removesuffix(r"\b") + _BEGIN + pattern.removeprefix(begin)
            break
    words = tuple(word.lower().encode() for word in rule["keywords"])
    return SecretRule(rule["id"], pattern, words, float(rule.get("entropy", 0)))


@cache
def _read() -> list[dict[str, Any]]:
    spec = find_spec(_PACKAGE)
    try:
        if spec is None or spec.origin is None:
            raise OSError(f"no package {_PACKAGE}")
        text = Path(spec.origin).with_name("config").joinpath("gitleaks.toml").read_text("utf-8")
        rules: list[dict[str, Any]] = tomli.loads(text)["rules"]
    except (OSError, KeyError, tomli.TOMLDecodeError) as error:
        raise MachineError(
            f"the rules that tell secrets cannot be read from {_PACKAGE}/{_RULES}: {error};"
            " install WAREX's packages again"
        ) from None
    return rules


_ONE, _SET, LARGE_SET = 16 << 20, 20 << 20, 64 << 20
"""Bytes for a pattern, and for a set of them: RE2 keeps the states that texts have led it through,
and forgets them when these are used up, so a lane's memory is bounded. Less is slower."""
_PASSES = 5
"""Passes in which the patterns of a set are searched. RE2 has a state for each combination of the
places that its patterns are at: in a text that is dense with secrets one pass for all meets a new
combination at every other byte, and takes ten times as long."""


@cache
def _options(memory: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = memory
    # A line of a trace may contain any byte.
    options.encoding = re2.Options.Encoding.LATIN1
    return options


@cache
def compiled(pattern: bytes) -> Any:
    """Return a pattern over bytes for RE2."""
    return re2.compile(pattern, _options(_ONE))


class PatternSet:
    """Patterns that are searched together, in few passes."""

    def __init__(self, patterns: tuple[bytes, ...], *, memory: int = _SET) -> None:
        """``memory``: bytes for all of them."""
        self._size = max(1, math.ceil(len(patterns) / _PASSES))
        begins = range(0, len(patterns), self._size)
        self._sets: list[Any] = []
        for begin in begins:
            one_pass = re2.Set.SearchSet(_options(memory // len(begins)))
            for pattern in patterns[begin : begin + self._size]:
                one_pass.Add(pattern)
            one_pass.Compile()
            self._sets.append(one_pass)

    def matching(self, text: bytes) -> list[int]:
        """Return the indices of the patterns that match."""
        return [
            number * self._size + index
            for number, one_pass in enumerate(self._sets)
            for index in one_pass.Match(text) or ()
        ]


class StagedPatterns:
    """Patterns some of which need another one; these are compiled for the first text that has it.

    Compiling all of them takes several times as long as most trials take for their first texts.
    """

    def __init__(self, patterns: Sequence[tuple[bytes, bytes | None]]) -> None:
        """``patterns``: each with the one without which it matches no text, if there is one."""
        self._patterns = tuple(pattern for pattern, _ in patterns)
        self._free: list[int] = []
        self._places: dict[bytes, list[int]] = {}
        for place, (_, needed) in enumerate(patterns):
            places = self._free if needed is None else self._places.setdefault(needed, [])
            places.append(place)
        self._needed = tuple(self._places)
        self._first = PatternSet((*(self._patterns[place] for place in self._free), *self._needed))
        self._sets: dict[bytes, PatternSet] = {}

    def matching(self, text: bytes) -> list[int]:
        """Return the indices of the patterns that match, in order."""
        indexes: list[int] = []
        for index in self._first.matching(text):
            if index < len(self._free):
                indexes.append(self._free[index])
            else:
                needed = self._needed[index - len(self._free)]
                places = self._places[needed]
                indexes += (places[within] for within in self._set_of(needed).matching(text))
        return sorted(indexes)

    def compile_all(self) -> None:
        """Compile the patterns that no text has needed yet."""
        for needed in self._needed:
            self._set_of(needed)

    def _set_of(self, needed: bytes) -> PatternSet:
        if needed not in self._sets:
            places = self._places[needed]
            patterns = tuple(self._patterns[place] for place in places)
            self._sets[needed] = PatternSet(patterns, memory=LARGE_SET)
        return self._sets[needed]
