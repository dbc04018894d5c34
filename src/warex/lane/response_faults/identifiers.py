"""The identifiers in a trial's scripts and styles; a page asks which of its names are unused."""

import json
from collections.abc import Iterable
from typing import Final, override

from warex.engine.http.encoding import StreamDecoder
from warex.engine.http.heads import ResponseHead
from warex.exchange import Resource
from warex.lane.response_faults.page_reports import MENTIONS
from warex.lane.response_faults.stream_rewriter import BodyReader
from warex.rewriting.html_body.code_identifiers import CodeIdentifiers
from warex.scenarios import Rule

_KINDS: Final = ("javascript", "ecmascript", "css")
_OF_CACHES: Final = (206, 304)
"""Statuses of responses that complete or confirm a cached one."""
_MAX_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of scripts and styles that are read in a trial."""


class UsedIdentifiers:
    """Reads the scripts and styles of a trial while they are streamed, if a rule needs it.

    On a page with a script or style that was not requested or could not be read, no name is unused.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.wanted = any(rule.fault.reads_code for rule in rules)
        self._mentions = CodeIdentifiers()
        self._asked: set[str] = set()
        self._read: set[str] = set()
        self._unread: set[str] = set()
        self._is_full = False

    def note_request(self, url: str) -> None:
        """Note a request, which may be for a script."""
        if self.wanted:
            self._asked.add(url)

    def reader(
        self, url: str, resource: Resource, head: ResponseHead, *, streamed: bool
    ) -> BodyReader | None:
        """Return a reader of a response that is a script or a style; None for other responses.

        ``streamed``: the response is sent while it is read.
        """
        if not self.wanted:
            return None
        kind = head.headers.get("content-type").lower()
        is_code = resource in ("script", "stylesheet") or any(it in kind for it in _KINDS)
        if head.status in _OF_CACHES and url not in self._read:
            self._unread.add(url)
        elif head.status == 200 and is_code:
            self._unread.add(url)  # Until it is complete.
            coding = head.headers.get("content-encoding")
            if streamed and StreamDecoder.reads(coding):
                return _CodeReader(self, url, coding)
        return None

    def add_code(self, address: str, text: bytes) -> None:
        """Read a complete script or style."""
        if not self._has_room(text):
            return
        self._mentions.add(text.decode("utf-8", "replace"))
        self._read.add(address)
        self._unread.discard(address)

    def _has_room(self, text: bytes | str) -> bool:
        return self._mentions.characters + len(text) <= _MAX_CHARACTERS

    def handle_report(self, what: str, text: str) -> list[str]:
        """Read a page's inline code, or return which of the reported names are unused."""
        if what == MENTIONS:
            self._is_full |= not self._has_room(text)
            if not self._is_full:
                self._mentions.add(text)
            return []
        try:
            asked = json.loads(text)
        except (ValueError, RecursionError):
            return []
        match asked:
            case {"addresses": list(addresses), "names": list(names)}:
                known = self._asked - self._unread
                if self._is_full or any(it not in known for it in map(str, addresses)):
                    return []
                return [name for name in map(str, names) if not self._mentions.has(name)]
            case _:
                return []


class _CodeReader(BodyReader):
    """Reads a script or a style."""

    def __init__(self, mentioned: UsedIdentifiers, address: str, coding: str) -> None:
        self._mentioned, self._address = mentioned, address
        self._decoder, self._read = StreamDecoder(coding), bytearray()

    @override
    def read(self, data: bytes) -> None:
        if self._decoder.is_bomb:
            return
        for part in self._decoder.feed(data):
            if self._decoder.is_bomb:
                self._read.clear()
                return
            self._read += part

    @override
    def close(self) -> bytes:
        if not self._decoder.is_bomb:
            self._mentioned.add_code(self._address, bytes(self._read))
        return b""
