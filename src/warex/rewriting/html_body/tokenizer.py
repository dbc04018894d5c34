"""An HTML document as it streams: its tokens, the bytes they stand for, and what may go on.

A tokenizer of the HTML standard finds what is markup and what is text. Sources: WHATWG HTML,
section 13.2.3.2 (encodings); WHATWG Encoding, section 4.2 (labels).
"""

import re
from array import array
from collections.abc import Iterator
from itertools import chain
from sys import byteorder
from typing import Final, NamedTuple

from turbohtml import Token, Tokenizer, TokenType

_BOMS: Final = {b"\xef\xbb\xbf": "", b"\xff\xfe": "little", b"\xfe\xff": "big"}
_LABEL: Final = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_WIDE: Final = {
    label: order
    for order, labels in {
        "little": "utf-16 utf-16le unicode ucs-2 csunicode iso-10646-ucs-2 unicodefeff",
        "big": "utf-16be unicodefffe",
    }.items()
    for label in labels.split()
}
"""The labels of those encodings of the web in which ASCII is not one byte a character."""
_BREAK: Final = re.compile(r"\r\n|\r|\n")
_RAW: Final = frozenset(("script", "style", "title", "noframes"))


class HtmlStream:
    """The bytes of a document that have come and not gone on, and the tokens among them.

    Places are numbers of characters from the document's beginning. A character is a byte here, or
    two in UTF-16: enough to tell markup from text, since all other encodings of the web have
    ASCII's bytes for what markup is written in. ``content_type`` is the header's value.
    """

    def __init__(self, content_type: str) -> None:
        label = _LABEL.search(content_type)
        self._order = _WIDE.get(label[1].lower(), "") if label else ""
        """Which of a character's two bytes comes first; empty where it has one."""
        self._mark: bytes | None = None
        """The byte order mark; None as long as too little has come."""
        self._undecoded = b""
        self._held = bytearray()
        self._sent = 0
        """Bytes of the document that have gone, of which those held are the next."""
        self._tokens = _Tokens()

    @property
    def characters(self) -> int:
        """How many have come."""
        return len(self._tokens.text)

    @property
    def inside(self) -> str:
        """The element whose content is text, whatever it looks like, and has begun last."""
        return self._tokens.inside

    @property
    def sent(self) -> int:
        """How many of the characters have gone on."""
        return max(0, self._sent - len(self._mark or b"")) // (2 if self._order else 1)

    def take(self, data: bytes, *, final: bool = False) -> None:
        """Take in more of the document; ``final``: all of it has come."""
        self._held += data
        self._tokens.text += self._decoded(data, final=final)

    def tokens(self) -> "Iterator[PositionedToken]":
        """Yield the tokens of what has been taken in since they were last asked for."""
        return self._tokens.next()

    def feed(self, data: bytes) -> "Iterator[PositionedToken]":
        """Take in more of the document, and yield what is known of it now."""
        self.take(data)
        return self.tokens()

    def close(self) -> "Iterator[PositionedToken]":
        """Yield what is left: all of the document has come."""
        self.take(b"", final=True)
        return chain(self.tokens(), self._tokens.close())

    def between(self, start: int, end: int) -> str:
        """Return a part of the document as characters."""
        return self._tokens.text[start:end]

    def until(self, place: int) -> bytes:
        """Take what comes before a place out of what is held; nothing if it has gone on."""
        size = len(self._mark or b"") + place * (2 if self._order else 1) - self._sent
        size = max(0, size)
        taken = bytes(self._held[:size])
        del self._held[:size]
        self._sent += size
        return taken

    def rest(self) -> bytes:
        """Take out all that is held."""
        rest, self._held = bytes(self._held), bytearray()
        return rest

    def _decoded(self, data: bytes, *, final: bool = False) -> str:
        """Return a character for each byte, or for each two."""
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
        whole = len(data) // 2 * 2
        self._undecoded = data[whole:]
        units = array("H", data[:whole])
        if self._order != byteorder:
            units.byteswap()
        return "".join(map(chr, units))

    def encoded(self, text: str) -> bytes:
        """Return characters as the document has them."""
        if not self._order:
            return text.encode("latin-1", "xmlcharrefreplace")
        return text.encode(f"utf-16-{self._order[0]}e", "surrogatepass")


class PositionedToken(NamedTuple):
    """A token, and where it is among the document's characters; of a text only the start."""

    token: Token
    start: int
    end: int


class _Tokens:
    """Tokens of a document as it comes."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer(resolve_references=False, capture_source=True)
        self.text = ""
        """All that has come."""
        self._lines = [0]
        """Where each line begins."""
        self._counted = 0
        """Characters whose line breaks are counted."""
        self._given = 0
        """Characters that the tokenizer was given."""
        self.inside = ""
        """The element whose content is text, whatever it looks like, and has begun last."""

    def next(self) -> Iterator[PositionedToken]:
        text, self._given = self.text[self._given :], len(self.text)
        # A return at the end may be the first half of a break.
        known = len(self.text) - self.text.endswith("\r")
        breaks = _BREAK.finditer(self.text, self._counted, known)
        self._lines += [it.end() for it in breaks]
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
            # The tokenizer has made one character of each break.
            end += 2 if character == "\n" and self.text.startswith("\r\n", end) else 1
        return PositionedToken(token, start, end)
