"""Changes the visible text of a page as it streams; all else stays."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from warex.exchange import Request, Response
from warex.rewriting.base import (
    HTML_TYPES,
    ActiveRewrite,
    Rewriter,
    ValueChange,
    has_body,
    media_type,
)
from warex.rewriting.html_body.text_kinds import TextKind, matches_of, may_have, other, replacement
from warex.seeds import KeyedRng

if TYPE_CHECKING:
    from turbohtml import Token

    from warex.rewriting.html_body.tokenizer import HtmlStream, PositionedToken

_UNSEEN: Final = frozenset(
    (
        *("script", "style", "title", "textarea", "noscript", "template", "noframes"),
        *("iframe", "noembed", "object", "canvas", "datalist"),
    )
)
"""Elements whose text is invisible, or the user's input."""
_LONGEST: Final = 8 * 1024 * 1024
"""Characters after which the search ends."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Changes ``count`` values of a kind in a page's visible text, from the n-th on."""

    kind: TextKind
    rng: KeyedRng
    nth: int = 1
    count: int = 1
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of an HTML page; None for other responses."""
        if media_type(response) not in HTML_TYPES or not has_body(request, response):
            return None
        # Imported here because the tokenizer takes 0.1 s to load, and scenarios do not need it.
        from warex.rewriting.html_body.tokenizer import HtmlStream

        document = HtmlStream(response.headers.get("content-type", ""))
        return ActiveRewrite(TextRewriter(self, document))

    def answer(self, asked: str) -> tuple[JsonValue, Sequence[ValueChange]]:
        """Change the texts of a page, as a browser shows them: a JSON list of text and group.

        Equal values of texts in one group are one value. The answer contains the index of each
        changed text with its edits: start, end and replacement.
        """
        try:
            texts = json.loads(asked) if len(asked) <= _LONGEST else []
        except (ValueError, RecursionError):
            return [], ()
        put: list[JsonValue] = []
        changes: list[ValueChange] = []
        numbers: dict[tuple[str, str], int] = {}
        seen = 0
        for place, entry in enumerate(texts if isinstance(texts, list) else ()):
            if not (isinstance(entry, list) and len(entry) == 2):
                continue
            text, group = map(str, entry)
            edits: list[JsonValue] = []
            in_text: set[str] = set()
            for match in matches_of(self.kind, text):
                value = match[0]
                key = group, "".join(it for it in value if it.isalnum())
                if key not in numbers or value in in_text:
                    seen += 1
                    numbers[key] = seen
                in_text.add(value)
                number = numbers[key]
                if not self.nth <= number < self.nth + self.count:
                    continue
                start, end, after = replacement(self.kind, match, self.rng)
                changed = f"{text[match.start() : start]}{after}{text[end : match.end()]}"
                if not any(it.where == f"{self.kind} {number}" for it in changes):
                    changes.append(ValueChange(f"{self.kind} {number}", value, changed))
                edits.append([start, end, after])
            if edits:
                put.append([place, edits])
        return put, changes


class TextRewriter(Rewriter):
    """Changes one page."""

    changes: tuple[ValueChange, ...] = ()

    def __init__(self, edit: TextEdit, document: "HtmlStream") -> None:
        self._edit = edit
        self._document = document
        self._unseen: list[str] = []
        """The open elements with invisible text."""
        self._run: tuple[int, int] | None = None
        """The start of the current text, and its line."""
        self._seen = 0
        """How many values of the kind were found."""
        self._over = False

    def feed(self, data: bytes) -> bytes:
        """Take the next part of the page; return what can be sent."""
        if self._over:
            return data
        self._document.take(data)
        source = self._source()
        if may_have(self._edit.kind, source):
            return self._edited(self._document.tokens())
        # No value contains ">" or a line feed, so a later one begins behind the last of them.
        end = max(source.rfind(">"), source.rfind("\n")) + 1
        return self._ended(self._document.until(self._document.sent + end))

    def close(self) -> bytes:
        """Return the rest at the end of the page."""
        if self._over:
            return b""
        self._document.take(b"", final=True)
        if not may_have(self._edit.kind, self._source()):
            return self._rest()
        out = self._edited(self._document.close())
        if not self._over:
            out += self._text(self._document.characters)
        return out + self._rest()

    def _source(self) -> str:
        """Return what is held."""
        return self._document.between(self._document.sent, self._document.characters)

    def _edited(self, tokens: "Iterable[PositionedToken]") -> bytes:
        out = bytearray()
        for token, start, end in tokens:
            name = token.type.name
            if name in ("TEXT", "CHARACTER_REFERENCE"):
                if self._run is None and not self._unseen:
                    self._run = start, token.line
                continue
            out += self._text(start) + self._document.until(end)
            self._note(name, token)
            if len(self.changes) == self._edit.count:
                break
        return self._ended(bytes(out))

    def _ended(self, out: bytes) -> bytes:
        """Return ``out``, with the rest if the search is over."""
        over = len(self.changes) == self._edit.count or self._document.characters > _LONGEST
        return out + self._rest() if over else out

    def _note(self, name: str, token: "Token") -> None:
        """Note whether the text that follows is visible."""
        tag = token.tag or ""
        if tag in _UNSEEN and name == "START_TAG":
            self._unseen.append(tag)
        elif name == "END_TAG" and tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]

    def _text(self, end: int) -> bytes:
        """Return the text that ends here up to its last changed value; nothing if none changed."""
        if self._run is None:
            return b""
        (start, line), self._run = self._run, None
        text = self._document.between(start, end)
        out = b""
        for match in matches_of(self._edit.kind, text):
            self._seen += 1
            if self._seen < self._edit.nth or len(self.changes) == self._edit.count:
                continue
            put = other(self._edit.kind, match, self._edit.rng)
            out += self._document.until(start + match.start())
            self._document.until(start + match.end())
            out += self._document.encoded(put)
            self.changes += (ValueChange(f"line {line}", _read(match[0]), _read(put)),)
        return out

    def _rest(self) -> bytes:
        self._over = True
        return self._document.rest()


def _read(source: str) -> str:
    """Return a text as a browser shows it, as far as that is known without its encoding."""
    with suppress(UnicodeError):
        source = source.encode("latin-1").decode("utf-8")
    return unescape(source)
