"""Finds which names of a page the site's scripts and styles use."""

import hashlib
from typing import Final

from warex.text.lazy_pattern import lazy_re

_WORD: Final = lazy_re(r"[\w-]+")
_PART: Final = lazy_re(r"\[\s*(?:class|id|name|data-[\w-]+)\s*[*^$|~]=\s*[\"']?([\w-]+)")
"""The value of an attribute selector for a prefix, a suffix or a part."""
_SHORTEST: Final = 2
_JOINTS: Final = "-_"
_DIGITS: Final = "0123456789"


class CodeIdentifiers:
    """The words of all scripts and style sheets that were added.

    A name is also used if a script may compose it: of a part that ends or begins with ``-`` or
    ``_``, or of a word and a number.
    """

    def __init__(self) -> None:
        self.characters = 0
        """How many were added."""
        self._texts: list[str] = []
        self._known: set[bytes] = set()
        self._words: set[str] = set()
        self._begins: set[str] = set()
        self._ends: set[str] = set()
        self._parts: set[str] = set()

    def add(self, text: str) -> None:
        """Add a script, a style sheet or a value used by one; a known text costs nothing."""
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest not in self._known:
            self._known.add(digest)
            self._texts.append(text)
            self.characters += len(text)

    def has(self, name: str) -> bool:
        """Whether a text may use the name."""
        self._read()
        words = _WORD.findall(name)
        stem = name.rstrip(_DIGITS).rstrip(_JOINTS)
        return (
            all(word in self._words for word in words)
            or stem in self._words
            or any(name.startswith(begin) for begin in self._begins)
            or any(name.endswith(end) for end in self._ends)
            or any(part in name for part in self._parts)
        )

    def _read(self) -> None:
        for text in self._texts:
            # Style sheets escape punctuation: ``.sm\:wide``.
            plain = text.replace("\\", "")
            self._parts.update(_PART.findall(plain))
            new = set(_WORD.findall(plain)) - self._words
            self._words |= new
            joints = [word for word in new if len(word.strip(_JOINTS)) >= _SHORTEST]
            self._begins.update(word for word in joints if word[-1] in _JOINTS)
            self._ends.update(word for word in joints if word[0] in _JOINTS)
        self._texts.clear()
