"""Inserts markup at the beginning of the head of an HTML document as it streams.

The document's own bytes pass unchanged, as soon as nothing can be inserted before them. Source:
WHATWG HTML, section 13.2.6.4 (which tags create a head).
"""

from collections.abc import Callable, Iterable
from html import escape
from typing import Final

from turbohtml import Token, TokenType

from warex.rewriting.base import ValueChange
from warex.rewriting.html_body.tokenizer import HtmlStream, PositionedToken

_LONGEST: Final = 1024 * 1024
"""Characters after which the search for a head ends."""
_SPACE: Final = " \t\n\r\f"
_MAKES_HEAD: Final = frozenset(("head", "body", "html", "br"))
"""End tags that create a missing head; all others are ignored."""
_IN_HEAD: Final = frozenset(
    ("base", "link", "meta", "noscript", "script", "style", "template", "title", "noframes")
)


class HeadInserter:
    """Inserts markup at the beginning of a document's head, and changes the policies there.

    ``markup`` is ASCII, which differs only in width among the encodings of the web.
    ``content_type`` is the header's value. ``policy`` maps the Content-Security-Policy of each
    ``meta`` element to the new one; without it only the markup is inserted.
    """

    def __init__(
        self, markup: str, content_type: str = "", policy: Callable[[str], str] | None = None
    ) -> None:
        self.applied = False
        self.changes: tuple[ValueChange, ...] = ()
        self._markup = markup
        self._policy = policy
        self._over = False
        self._document = HtmlStream(content_type)

    def feed(self, data: bytes) -> bytes:
        """Take the next part of the document; return what can be sent."""
        return data if self._over else self._edited(self._document.feed(data))

    def close(self) -> bytes:
        """Return the rest at the end of the document."""
        return b"" if self._over else self._edited(self._document.close()) + self._rest()

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
            policy = _policy_of(token)
            if policy is not None and (wanted := self._policy(policy)) != policy:
                self._document.until(end)
                out += self._document.encoded(_with_policy(token, wanted))
        if self._document.characters > _LONGEST:
            out += self._rest()
        return bytes(out)

    def _rest(self) -> bytes:
        self._over = True
        return self._document.rest()


def _place(token: Token, start: int, end: int) -> int | None:
    """Return where the head begins that this token opens or implies; None if it does neither."""
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
    """Whether this token ends the head, so that no policy can follow."""
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
    """Return the policy of a ``meta`` tag; None for other tags."""
    if token.type is not TokenType.START_TAG or token.tag != "meta":
        return None
    is_policy = (token.attr("http-equiv") or "").lower() == "content-security-policy"
    return token.attr("content") if is_policy else None


def _with_policy(token: Token, policy: str) -> str:
    """Return a tag with another policy and otherwise the same attributes."""
    stated = [(name, policy if name == "content" else value) for name, value in token.attrs or ()]
    written = "".join(f' {name}="{escape(value or "")}"' for name, value in stated)
    return f"<meta{written}{'/' if token.self_closing else ''}>"
