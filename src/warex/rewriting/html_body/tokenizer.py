"""Tokenizes an HTML document as it streams, and maps its tokens to its bytes.

Sources: WHATWG HTML, section 13.2.3.2 (encodings); WHATWG Encoding, section 4.2 (labels).
"""

import re
from array import array
from collections.abc import Iterator
from itertools import chain
from sys import byteorder
from typing import Final, NamedTuple

from turbohtml import Token, Tokenizer, TokenType

from warex.text.lazy_pattern import lazy_re

_BOMS: Final = {b"\xef\xbb\xbf": "", b"\xff\xfe": "little", b"\xfe\xff": "big"}
_LABEL: Final = lazy_re(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_WIDE: Final = {
    label: order
    for order, labels in {
        "little": "utf-16 utf-16le unicode ucs-2 csunicode iso-10646-ucs-2 unicodefeff",
        "big": "utf-16be unicodefffe",
    }.items()
    for label in labels.split()
}
"""The labels of the encodings of the web in which an ASCII character is not one byte."""
_BREAK: Final = lazy_re(r"\r\n|\r|\n")
_RAW: Final = frozenset(("script", "style", "title", "noframes"))


class HtmlStream:
    """The held bytes of a document, and its tokens.

    Places are counted in characters from the document's beginning. A character is a byte, or two in
    UTF-16: all other encodings of the web write markup in ASCII's bytes. ``content_type`` is the
    header's value.
    """

    def __init__(self, content_type: str) -> None:
        label = _LABEL.search(content_type)
        self._order = _WIDE.get(label[1].lower(), "") if label else ""
        """The byte order of UTF-16; empty for a character of one byte."""
        self._mark: bytes | None = None
        """The byte order mark; None until enough bytes have arrived."""
        self._undecoded = b""
        self._buffer = bytearray()
        self._sent = 0
        """Bytes of the document before those held."""
        self._tokens = _Tokens()

    @property
    def characters(self) -> int:
        """How many characters have arrived."""
        return len(self._tokens.text)

    @property
    def inside(self) -> str:
        """The open element with raw text."""
        return self._tokens.inside

    @property
    def sent(self) -> int:
        """How many characters are no longer held."""
        return max(0, self._sent - len(self._mark or b"")) // (2 if self._order else 1)

    def take(self, data: bytes, *, final: bool = False) -> None:
        """Add data to the document; ``final`` marks its end."""
        self._buffer += data
        self._tokens.text += self._decoded(data, final=final)

    def tokens(self) -> "Iterator[PositionedToken]":
        """Yield the tokens of the data added since the last call."""
        return self._tokens.next()

    def feed(self, data: bytes) -> "Iterator[PositionedToken]":
        """Add data to the document, and yield its tokens."""
        self.take(data)
        return self.tokens()

    def close(self) -> "Iterator[PositionedToken]":
        """Yield the last tokens at the end of the document."""
        self.take(b"", final=True)
        return chain(self.tokens(), self._tokens.close())

    def between(self, start: int, end: int) -> str:
        """Return a part of the document as characters."""
        return self._tokens.text[start:end]

    def until(self, place: int) -> bytes:
        """Remove the held bytes before a place, and return them."""
        size = len(self._mark or b"") + place * (2 if self._order else 1) - self._sent
        size = max(0, size)
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._sent += size
        return taken

    def rest(self) -> bytes:
        """Remove all held bytes, and return them."""
        rest, self._buffer = bytes(self._buffer), bytearray()
        return rest

    def _decoded(self, data: bytes, *, final: bool = False) -> str:
        """Return a character for each byte, or for each pair in UTF-16."""
        data = self._undecoded + data
        self._undecoded = b""
        if self._mark is None:
            if len(data) < 3 and not final:
                self._undecoded = data
                return ""
            self._mark = next((mark for mark in _BOMS if data.startswith(mark)), b"")
            self._order = _BOMS.get(self._mark, self._order)
            data = data[len(self._mark) :]
        if not self._order:
            return data.decode("latin-1")
        even = len(data) // 2 * 2
        self._undecoded = data[even:]
        units = array("H", data[:even])
        if self._order != byteorder:
            units.byteswap()
        return "".join(map(chr, units))

    def encoded(self, text: str) -> bytes:
        """Return text in the document's encoding."""
        if not self._order:
            return text.encode("latin-1", "xmlcharrefreplace")
        return text.encode(f"utf-16-{self._order[0]}e", "surrogatepass")


class PositionedToken(NamedTuple):
    """A token and its place in the document; a text's end is not exact."""

    token: Token
    start: int
    end: int


class _Tokens:
    """The tokens of a document as it arrives."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer(resolve_references=False, capture_source=True)
        self.text = ""
        self._lines = [0]
        """Where each line begins."""
        self._counted = 0
        """Characters whose line breaks are counted."""
        self._returned = 0
        """Characters passed to the tokenizer."""
        self.inside = ""
        """The open element with raw text."""

    def next(self) -> Iterator[PositionedToken]:
        text, self._returned = self.text[self._returned :], len(self.text)
        # A return at the end may be the first half of a break.
        known = len(self.text) - self.text.endswith("\r")
        self._lines += [it.end() for it in _BREAK.finditer(self.text, self._counted, known)]
        self._counted = known
        return map(self._located, self._tokenizer.feed(text))

    def close(self) -> Iterator[PositionedToken]:
        self._lines.append(len(self.text))
        return map(self._located, self._tokenizer.close())

    def _located(self, token: Token) -> PositionedToken:
        if token.type is TokenType.START_TAG:
            self.inside = token.tag if token.tag in _RAW else ""
        elif token.type is TokenType.END_TAG:
            self.inside = ""
        start = self._lines[token.line - 1] + token.col
        source = token.source or ""
        if "\n" not in source:
            return PositionedToken(token, start, start + len(source))
        end = start
        for character in source:
            # The tokenizer normalizes each break to one character.
            end += 2 if character == "\n" and self.text.startswith("\r\n", end) else 1
        return PositionedToken(token, start, end)
