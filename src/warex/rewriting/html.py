"""Markup put into an HTML document as it streams, at the very beginning of its head.

The document's own bytes pass as they came, each as soon as it is known that nothing goes before
it. A tokenizer of the HTML standard finds the place. Sources: WHATWG HTML, sections 13.2.3.2
(encodings) and 13.2.6.4 (which tag makes a head); WHATWG Encoding, section 4.2 (labels).
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from html import escape
from itertools import chain
from sys import byteorder
from typing import Final, NamedTuple

from turbohtml import Token, Tokenizer, TokenType

from warex.rewriting.base import Changed

_LONGEST: Final = 1024 * 1024
"""Characters after which nothing more is looked for: no page has such a head."""
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
_SPACE: Final = " \t\n\r\f"
_MAKES_HEAD: Final = frozenset(("head", "body", "html", "br"))
"""End tags that make a head where there is none yet; all others are passed over."""
_RAW: Final = frozenset(("script", "style", "title", "noframes"))
_IN_HEAD: Final = frozenset(
    ("base", "link", "meta", "noscript", "script", "style", "template", "title", "noframes")
)


class HeadInserter:
    """Puts markup at the beginning of a document's head; has policies that stand there changed.

    ``markup`` is ASCII, and so means the same in all encodings of the web, but for its width.
    ``content_type`` is the header's value. ``policy`` is given the Content-Security-Policy of each
    ``meta`` element and returns what it is to say; without it nothing but the markup is changed.
    """

    def __init__(
        self, markup: str, content_type: str = "", policy: Callable[[str], str] | None = None
    ) -> None:
        self.applied = False
        """Whether there was a place."""
        self.changes: tuple[Changed, ...] = ()
        """What is put in changes no value of the page."""
        self._markup = markup
        self._policy = policy
        label = _LABEL.search(content_type)
        self._order = _WIDE.get(label[1].lower(), "") if label else ""
        """Which of a character's two bytes comes first; empty where it has one."""
        self._mark: bytes | None = None
        """The byte order mark; None as long as too little has come."""
        self._undecoded = b""
        self._held = bytearray()
        self._sent = 0
        """Bytes of the document that have gone, of which those held are the next."""
        self._over = False
        self._tokens = _Tokens()

    def feed(self, data: bytes) -> bytes:
        """Return what can go on, now that more of the document has come."""
        if self._over:
            return data
        self._held += data
        return self._edited(self._tokens.feed(self._decoded(data)))

    def close(self) -> bytes:
        """Return what is left, now that all of the document has come."""
        if self._over:
            return b""
        last = self._tokens.feed(self._decoded(b"", final=True))
        out = self._edited(chain(last, self._tokens.close()))
        return out + self._rest()

    def _edited(self, tokens: "Iterable[_Located]") -> bytes:
        out = bytearray()
        for token, start, end in tokens:
            if not self.applied:
                place = _place(token, start, end)
                if place is None:
                    out += self._until(end)
                    continue
                out += self._until(place) + self._encoded(self._markup)
                self.applied = True
                if place == end and self._policy is not None:
                    continue
            if self._policy is None or _ends_head(token, self._tokens.inside):
                return bytes(out + self._rest())
            out += self._until(start)
            said = _policy_of(token)
            if said is not None and (wanted := self._policy(said)) != said:
                self._until(end)
                out += self._encoded(_with_policy(token, wanted))
        if self._tokens.characters > _LONGEST:
            out += self._rest()
        return bytes(out)

    def _until(self, place: int) -> bytes:
        """Take what comes before a place out of what is held."""
        size = len(self._mark or b"") + place * (2 if self._order else 1) - self._sent
        taken = bytes(self._held[:size])
        del self._held[:size]
        self._sent += size
        return taken

    def _rest(self) -> bytes:
        self._over = True
        rest, self._held = bytes(self._held), bytearray()
        return rest

    def _decoded(self, data: bytes, *, final: bool = False) -> str:
        """Return a character for each byte, or for each two: enough to tell markup from text.

        All encodings of the web but UTF-16 have ASCII's bytes for what markup is written in.
        """
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

    def _encoded(self, text: str) -> bytes:
        if not self._order:
            return text.encode("latin-1", "xmlcharrefreplace")
        return text.encode(f"utf-16-{self._order[0]}e", "surrogatepass")


class _Located(NamedTuple):
    """A token, and where it is among the document's characters; of a text only the start."""

    token: Token
    start: int
    end: int


class _Tokens:
    """Tokens of a document as it comes."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer(resolve_references=False, capture_source=True)
        self._text = ""
        self._lines = [0]
        """Where each line begins."""
        self._counted = 0
        """Characters whose line breaks are counted."""
        self.inside = ""
        """The element whose content is text, whatever it looks like, and has begun last."""

    @property
    def characters(self) -> int:
        """How many have come."""
        return len(self._text)

    def feed(self, text: str) -> Iterator[_Located]:
        self._text += text
        # A return at the end may be the first half of a break.
        known = len(self._text) - self._text.endswith("\r")
        breaks = _BREAK.finditer(self._text, self._counted, known)
        self._lines += [it.end() for it in breaks]
        self._counted = known
        return map(self._located, self._tokenizer.feed(text))

    def close(self) -> Iterator[_Located]:
        self._lines.append(len(self._text))
        return map(self._located, self._tokenizer.close())

    def _located(self, token: Token) -> _Located:
        if token.type is TokenType.START_TAG:
            self.inside = token.tag if token.tag in _RAW else ""
        elif token.type is TokenType.END_TAG:
            self.inside = ""
        start = end = self._lines[token.line - 1] + token.col
        for character in token.source or "":
            # The tokenizer has made one character of each break.
            end += 2 if character == "\n" and self._text.startswith("\r\n", end) else 1
        return _Located(token, start, end)


def _place(token: Token, start: int, end: int) -> int | None:
    """Return where the head begins that this token begins, or makes necessary; None if neither."""
    match token.type:
        case TokenType.START_TAG if token.tag == "head":
            return end
        case TokenType.START_TAG:
            return None if token.tag == "html" else start
        case TokenType.END_TAG:
            return start if token.tag in _MAKES_HEAD else None
        case TokenType.TEXT:
            return start if (token.data or "").strip(_SPACE) else None
        case TokenType.CHARACTER_REFERENCE:
            return start
        case _:
            return None


def _ends_head(token: Token, inside: str) -> bool:
    """Whether the head is over with this token, so that no policy can follow."""
    match token.type:
        case TokenType.START_TAG:
            return token.tag not in _IN_HEAD
        case TokenType.END_TAG:
            return token.tag in _MAKES_HEAD
        case TokenType.TEXT | TokenType.CHARACTER_REFERENCE:
            return not inside and bool((token.data or "x").strip(_SPACE))
        case _:
            return False


def _policy_of(token: Token) -> str | None:
    """Return the policy that a tag states; None if it states none."""
    if token.type is not TokenType.START_TAG or token.tag != "meta":
        return None
    is_policy = (token.attr("http-equiv") or "").lower() == "content-security-policy"
    return token.attr("content") if is_policy else None


def _with_policy(token: Token, policy: str) -> str:
    """Return a tag that states another policy and is the same otherwise."""
    stated = [(name, policy if name == "content" else value) for name, value in token.attrs or ()]
    written = "".join(f' {name}="{escape(value or "")}"' for name, value in stated)
    return f"<meta{written}{'/' if token.self_closing else ''}>"
