"""Markup put into an HTML document as it streams, at the very beginning of its head.

The document's own bytes pass as they came, each as soon as it is known that nothing goes before
it. Source: WHATWG HTML, section 13.2.6.4 (which tag makes a head).
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import Final

from turbohtml import Token, TokenType

from warex.rewriting.base import ValueChange
from warex.rewriting.html_body.tokenizer import HtmlStream, PositionedToken

_LONGEST: Final = 1024 * 1024
"""Characters after which nothing more is looked for: no page has such a head."""
_SPACE: Final = " \t\n\r\f"
_MAKES_HEAD: Final = frozenset(("head", "body", "html", "br"))
"""End tags that make a head where there is none yet; all others are passed over."""
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
        self.changes: tuple[ValueChange, ...] = ()
        """What is put in changes no value of the page."""
        self._markup = markup
        self._policy = policy
        self._over = False
        self._document = HtmlStream(content_type)

    def feed(self, data: bytes) -> bytes:
        """Return what can go on, now that more of the document has come."""
        return data if self._over else self._edited(self._document.feed(data))

    def close(self) -> bytes:
        """Return what is left, now that all of the document has come."""
        if self._over:
            return b""
        return self._edited(self._document.close()) + self._rest()

    def _edited(self, tokens: Iterable[PositionedToken]) -> bytes:
        out = bytearray()
        for token, start, end in tokens:
            if not self.applied:
                place = _place(token, start, end)
                if place is None:
                    out += self._document.until(end)
                    continue
                out += self._document.until(place) + self._document.encoded(self._markup)
                self.applied = True
                if place == end and self._policy is not None:
                    continue
            if self._policy is None or _ends_head(token, self._document.inside):
                return bytes(out + self._rest())
            out += self._document.until(start)
            said = _policy_of(token)
            if said is not None and (wanted := self._policy(said)) != said:
                self._document.until(end)
                out += self._document.encoded(_with_policy(token, wanted))
        if self._document.characters > _LONGEST:
            out += self._rest()
        return bytes(out)

    def _rest(self) -> bytes:
        self._over = True
        return self._document.rest()


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
