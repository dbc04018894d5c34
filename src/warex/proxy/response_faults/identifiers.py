"""The identifiers in a trial's scripts and styles; a page asks which of its names are unused."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from mitmproxy import http

from warex.proxy.exchange.state import ExchangeState
from warex.proxy.net.encoding import StreamDecoder
from warex.proxy.response_faults.page_reports import MENTIONS
from warex.rewriting.base import ValueChange
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
        self._wanted = any(rule.fault.reads_code for rule in rules)
        self._mentions = CodeIdentifiers()
        self._asked: set[str] = set()
        self._read: set[str] = set()
        self._unread: set[str] = set()
        self._is_full = False

    def note_request(self, state: ExchangeState) -> None:
        """Note a request, which may be for a script."""
        if self._wanted:
            self._asked.add(state.exchange.request.url)

    def watch_response(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Read a response while it is streamed, if it is a script or a style."""
        if not self._wanted or flow.response is None:
            return
        address, status = state.exchange.request.url, flow.response.status_code
        kind = flow.response.headers.get("content-type", "").lower()
        is_code = state.resource in ("script", "stylesheet") or any(it in kind for it in _KINDS)
        if status in _OF_CACHES and address not in self._read:
            self._unread.add(address)
        elif status == 200 and is_code:
            self._unread.add(address)  # Until it is complete.
            coding = flow.response.headers.get("content-encoding", "")
            if not state.pending and StreamDecoder.reads(coding):
                state.rewriters.append(_Reader(self, address, coding))

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


class _Reader:
    """Reads a body, and passes it on unchanged."""

    applied = False
    changes: Sequence[ValueChange] = ()
    is_bomb = False

    def __init__(self, mentioned: UsedIdentifiers, address: str, coding: str) -> None:
        self._mentioned, self._address = mentioned, address
        self._decoder, self._read = StreamDecoder(coding), bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not self._decoder.is_bomb:
            for part in self._decoder.feed(data):
                if self._decoder.is_bomb:
                    self._read.clear()
                    break
                self._read += part
        yield data

    def close(self) -> bytes:
        if not self._decoder.is_bomb:
            self._mentioned.add_code(self._address, bytes(self._read))
        return b""
