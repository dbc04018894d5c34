"""The text of a page changed as it streams, where a person can read it; all else stays."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Final

from pydantic import JsonValue

from warex.exchange import Request, Response
from warex.rewriting.base import ActiveRewrite, ValueChange
from warex.rewriting.html_body.text_kinds import TextKind, found, may_have, other
from warex.seeds import KeyedRng

if TYPE_CHECKING:
    from turbohtml import Token

    from warex.rewriting.html_body.tokenizer import HtmlStream, PositionedToken

_PAGES: Final = ("text/html", "application/xhtml+xml")
_NOT_WHOLE: Final = (204, 205, 206, 304)
_UNSEEN: Final = frozenset(
    (
        *("script", "style", "title", "textarea", "noscript", "template", "noframes"),
        *("iframe", "noembed", "object", "canvas", "datalist"),
    )
)
"""Elements whose text nobody reads, or that a person writes."""
_LONGEST: Final = 8 * 1024 * 1024
"""Characters after which nothing more is looked for."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Changes what is of a kind in a page's visible text: the n-th of them, and those after it."""

    kind: TextKind
    rng: KeyedRng
    nth: int = 1
    count: int = 1
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Begin with an HTML page; None for anything else."""
        content_type = response.headers.get("content-type", "")
        kind = content_type.partition(";")[0].strip().lower()
        if kind not in _PAGES or request.method == "HEAD" or response.status in _NOT_WHOLE:
            return None
        # Only here: who makes a scenario needs no tokenizer, and waits 0.1 s less without.
        from warex.rewriting.html_body.tokenizer import HtmlStream

        return ActiveRewrite(TextRewriter(self, HtmlStream(content_type)))

    def answer(self, asked: str) -> tuple[JsonValue, Sequence[ValueChange]]:
        """Change the texts of a page, given as a JSON list, as a browser shows them.

        The answer has the place and the new text of each that changes.
        """
        try:
            texts = json.loads(asked) if len(asked) <= _LONGEST else []
        except (ValueError, RecursionError):
            return [], ()
        put: list[JsonValue] = []
        changes: list[ValueChange] = []
        seen = 0
        for place, text in enumerate(texts if isinstance(texts, list) else ()):
            out, at = "", 0
            for match in found(self.kind, str(text)):
                seen += 1
                if seen < self.nth or len(changes) == self.count:
                    continue
                changed = ValueChange(
                    f"{self.kind} {seen}", match[0], other(self.kind, match, self.rng)
                )
                changes.append(changed)
                out += f"{text[at : match.start()]}{changed.after}"
                at = match.end()
            if out:
                put.append([place, f"{out}{text[at:]}"])
        return put, changes


class TextRewriter:
    """Changes one page."""

    def __init__(self, edit: TextEdit, document: "HtmlStream") -> None:
        self.changes: tuple[ValueChange, ...] = ()
        self._edit = edit
        self._document = document
        self._unseen: list[str] = []
        """The elements around the present place whose text nobody reads."""
        self._run: tuple[int, int] | None = None
        """Where the present text begins, and the line that it begins on."""
        self._seen = 0
        """How many of the kind have come."""
        self._over = False

    @property
    def applied(self) -> bool:
        """Whether there was something to change."""
        return bool(self.changes)

    def feed(self, data: bytes) -> bytes:
        """Return what can go on, now that more of the page has come."""
        if self._over:
            return data
        self._document.take(data)
        source = self._source()
        if may_have(self._edit.kind, source):
            return self._edited(self._document.tokens())
        # What is of a kind holds neither: what comes may not go back beyond the last of them.
        end = max(source.rfind(">"), source.rfind("\n")) + 1
        return self._ended(self._document.until(self._document.sent + end))

    def close(self) -> bytes:
        """Return what is left, now that all of the page has come."""
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
        """Return what has come and not gone on."""
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
        """Return it, with all the rest where nothing more is to be looked for."""
        over = len(self.changes) == self._edit.count or self._document.characters > _LONGEST
        return out + self._rest() if over else out

    def _note(self, name: str, token: "Token") -> None:
        """Note whether the text that follows is one that is read."""
        tag = token.tag or ""
        if tag in _UNSEEN and name == "START_TAG":
            self._unseen.append(tag)
        elif name == "END_TAG" and tag in self._unseen:
            del self._unseen[self._unseen.index(tag) :]

    def _text(self, end: int) -> bytes:
        """Return the text that ends here, changed if it is its turn; nothing if there was none."""
        if self._run is None:
            return b""
        (start, line), self._run = self._run, None
        said = self._document.between(start, end)
        out = b""
        for match in found(self._edit.kind, said):
            self._seen += 1
            if self._seen < self._edit.nth or len(self.changes) == self._edit.count:
                continue
            put = other(self._edit.kind, match, self._edit.rng)
            out += self._document.until(start + match.start())
            self._document.until(start + match.end())
            out += self._document.encoded(put)
            changed = ValueChange(f"line {line}", _read(match[0]), _read(put))
            self.changes = (*self.changes, changed)
        return out

    def _rest(self) -> bytes:
        self._over = True
        return self._document.rest()


def _read(said: str) -> str:
    """Return a piece of text as it is read, as far as that is known without its encoding."""
    with suppress(UnicodeError):
        said = said.encode("latin-1").decode("utf-8")
    return unescape(said)
