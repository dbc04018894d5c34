"""Changes values of a JSON response; all else stays."""

import codecs
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from msgspec import Struct

from warex.exchange import Request, Response
from warex.rewriting.base import ActiveRewrite, Rewriter, ValueChange, has_body, media_type
from warex.rewriting.json_body.ndjson import LinesRewriter, is_lines, is_sequence
from warex.rewriting.json_body.spans import JsonSpan, parse_pointer, parse_spans, span_at
from warex.rewriting.json_body.value_changes import (
    TextReplacement,
    ValueChangeKind,
    apply_replacements,
    replacements,
)
from warex.rewriting.json_body.value_kinds import ValueKind, find_pointers
from warex.seeds import KeyedRng

_LARGEST: Final = 8 * 1024 * 1024
"""Bytes of a response that are held; a larger one passes unchanged."""
_MOST: Final = 100_000
"""Values among which one is chosen."""
_BOMS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SHORTER: Final[Mapping[ValueChangeKind, int]] = {"emptied": 0, "halved": 2}
"""Every n-th item of a list is removed; 0 means all."""


class JsonEdit(Struct, frozen=True):
    """Changes values of JSON: the one at a pointer, or some of a kind at random.

    Without pointer and kind it changes the longest of the outermost lists.
    """

    how: ValueChangeKind
    rng: KeyedRng
    at: str | None = None
    kind: ValueKind | None = None
    count: int = 1
    """How many values of a kind change."""
    text: str = ""
    """The replacement of a value."""
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of a JSON response; None for other responses."""
        kind = media_type(response)
        if not has_body(request, response):
            return None
        about = f"{request.method} {request.url}"
        if is_lines(kind):
            return self._begin_lines(about, is_sequence(kind))
        if kind.endswith(("/json", "+json")) or kind == "text/x-json":
            return ActiveRewrite(_JsonRewriter(self, about))
        return None

    def _begin_lines(self, about: str, sequence: bool) -> ActiveRewrite | None:
        """Return the edit of a stream of lines, which is read as a list of their values."""
        change = partial(self._made, about)
        if self.how in _SHORTER and not self.at and self.kind is None:
            every = _SHORTER[self.how]
            return ActiveRewrite(LinesRewriter(change, 0, every=every, is_sequence=sequence))
        if self.at == "":
            return None
        only = None if self.at is None else parse_pointer(self.at)[0]
        return ActiveRewrite(LinesRewriter(change, self.count, only=only, is_sequence=sequence))

    def pieces(self, text: str, about: str) -> list[TextReplacement]:
        """Return the replacements in a JSON text; ``about`` seeds the choice for one request."""
        try:
            root = parse_spans(text)
        except (ValueError, RecursionError):
            return []
        return self._made(about, root, self.count)[0]

    def _made(self, about: str, root: JsonSpan, most: int) -> tuple[list[TextReplacement], int]:
        """Return the replacements in a value, and how many of its values change."""
        accepted: list[TextReplacement] = []
        changed = 0
        for value in self._chosen(root, about):
            made = replacements(self.how, value, self.rng, self.text)
            if made and not any(_overlap(one, other) for one in made for other in accepted):
                accepted += made
                changed += 1
            if changed == most:
                break
        return sorted(accepted, key=lambda it: it.begin), changed

    def _chosen(self, root: JsonSpan, about: str) -> Iterator[JsonSpan]:
        """Yield the candidates in the order in which they are tried."""
        if self.at is not None:
            place = span_at(root.parent or root, self.at)
            yield from () if place is None else (place,)
        elif self.kind is not None:
            fit = find_pointers(self.kind, root.data, root.pointer, _MOST)
            for pointer in sorted(fit, key=lambda it: self.rng.draw("place", about, it)):
                place = span_at(root.parent or root, pointer)
                if place is not None:
                    yield place
        else:
            yield from sorted(_outermost(root), key=lambda it: -len(it.children))


def _outermost(root: JsonSpan) -> Iterator[JsonSpan]:
    """Yield the lists that are in no other list."""
    waiting = [root]
    while waiting:
        value = waiting.pop()
        if value.text[value.begin] == "[":
            yield value
        else:
            waiting += reversed(value.children)


def _overlap(one: TextReplacement, other: TextReplacement) -> bool:
    return one.begin < other.end and other.begin < one.end


@dataclass(slots=True)
class _JsonRewriter(Rewriter):
    """Holds a response until it is whole, then changes it."""

    edit: JsonEdit
    about: str
    changes: tuple[ValueChange, ...] = ()
    _buffer: bytearray = field(default_factory=bytearray)
    _over: bool = False

    def feed(self, data: bytes) -> bytes:
        """Return nothing until the end, unless the response is too large to be held."""
        if self._over:
            return data
        self._buffer += data
        if len(self._buffer) <= _LARGEST:
            return b""
        self._over = True
        return self._rest()

    def close(self) -> bytes:
        """Return the changed response."""
        body = self._rest()
        mark = next((it for it in _BOMS if body.startswith(it)), b"")
        encoding, errors = _encoding(body)
        try:
            text = body[len(mark) :].decode(encoding, errors)
            if mark + text.encode(encoding, errors) != body:
                return body
        except UnicodeError:
            return body
        made = self.edit.pieces(text, self.about)
        self.changes = tuple(change for it in made for change in it.changes)
        if not made:
            return body
        return mark + apply_replacements(text, made).encode(encoding, errors)

    def _rest(self) -> bytes:
        rest, self._buffer = bytes(self._buffer), bytearray()
        return rest


def _encoding(body: bytes) -> tuple[str, str]:
    """Return the encoding of JSON by its first bytes (RFC 4627, section 3), and an error handler.

    Invalid UTF-8, as from older sites, is kept.
    """
    if body.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le", "surrogatepass"
    if body.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be", "surrogatepass"
    encoding = json.detect_encoding(body)
    return (
        ("utf-8", "surrogateescape")
        if encoding.startswith("utf-8")
        else (encoding, "surrogatepass")
    )
