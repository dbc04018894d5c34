"""The events of a trace that the viewer needs, read once, and where its lines are in the file.

A trace may have a million lines. Of requests and their answers only columns are kept, and of the
rest only what belongs to a step, a fault or a report of a page. A damaged line is left out and
told, so that the rest can be looked at.
"""

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, Literal

import msgspec

from warex.errors import TraceError
from warex.files.reading import open_regular_file
from warex.traces.event_parts import Timings
from warex.traces.events import SCHEMA_VERSION, Entry, LlmCall, RequestSeen, ResponseSeen
from warex.traces.paths import EVENTS
from warex.traces.reader import read_line
from warex.view.exchange_columns import LARGEST, Exchanges

RAW_CHUNK = 50
"""Lines of a trace in one raw document."""
_LONGEST_LINE: Final = 1 << 26
_MOST_PROBLEMS: Final = 5
_AROUND_A_CALL: Final = 64
"""Requests and answers before a call to the model in which its last page is looked for."""
_CURRENT: Final = b'{"schema_version":%d,' % SCHEMA_VERSION
_EVENT: Final = b',"event":"'
_NOT_SHOWN: Final = frozenset((b"dns", b"tunnel", b"websocket", b"tls_rejected"))
"""Frequent events that the viewer does not show."""


class _Stamps(msgspec.Struct, gc=False):
    seq: int
    t: float


class _Asked(msgspec.Struct, gc=False):
    seq: int
    t: float
    exchange: str
    method: str
    url: str
    resource: str
    top_level: bool = False


class _Answered(msgspec.Struct, gc=False):
    seq: int
    t: float
    exchange: str
    status: int | None
    resource: str
    by: Literal["site", "warex", "cache", "none"]
    size: int
    error: str | None = None


_ASKED: Final = _Asked.__struct_fields__[2:]
_ANSWERED: Final = _Answered.__struct_fields__[2:]
_asked = msgspec.json.Decoder(_Asked)
_answered = msgspec.json.Decoder(_Answered)
_stamps = msgspec.json.Decoder(_Stamps)


@dataclass(slots=True)
class TraceIndex:
    """What the viewer knows of a trace."""

    entries: list[Entry] = field(default_factory=list)
    """All events but requests, answers and those that are not shown; and of requests and answers
    those that may say on which page a call to the model was made, without headers."""
    exchanges: Exchanges = field(default_factory=Exchanges)
    chunks: dict[int, int] = field(default_factory=dict)
    """The byte at which the lines of each raw document begin."""
    last_seq: int = 0
    end: float = 0.0
    """Seconds from the trial's beginning to its last event."""
    problems: list[str] = field(default_factory=list)

    @property
    def carriers(self) -> frozenset[str]:
        """The exchanges that carry calls to the model."""
        return frozenset(e.event.carrier for e in self.entries if isinstance(e.event, LlmCall))


def read_index(attempt: Path) -> TraceIndex:
    """Read the trace in an attempt's folder. Raises TraceError if there is none to be read."""
    path = attempt / EVENTS
    try:
        with open_regular_file(path, follow=False) as file:
            return _Reading(path).read(file)
    except FileNotFoundError:
        raise TraceError(f"{path} does not exist, so there is no trace to show.") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from None


def raw_lines(attempt: Path, index: TraceIndex, chunk: int) -> list[str]:
    """Return the lines of an attempt's trace with ``seq`` from ``chunk`` times ``RAW_CHUNK`` + 1.

    Raises TraceError if the trace cannot be read.
    """
    if chunk not in index.chunks:
        return []
    path = attempt / EVENTS
    try:
        with open_regular_file(path, follow=False) as file:
            file.seek(index.chunks[chunk])
            lines = iter(lambda: file.readline(_LONGEST_LINE), b"")
            return [line.decode(errors="replace") for line in islice(lines, RAW_CHUNK)]
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from None


class _Reading:
    """One pass over a trace."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._index = TraceIndex()
        self._rows: dict[str, int] = {}
        """The row of each exchange that has no answer yet."""
        self._pages: deque[_Asked | _Answered] = deque(maxlen=_AROUND_A_CALL)
        self._others: deque[_Asked | _Answered] = deque(maxlen=_AROUND_A_CALL)
        self._page_exchanges: set[str] = set()
        self._bad_lines = 0

    def read(self, file: BinaryIO) -> TraceIndex:
        index = self._index
        position, number = 0, 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            before = index.last_seq
            try:
                self._add(line)
            except TraceError as error:
                self._tell(number, _describe_damage(line, error))
            else:
                if before and index.last_seq != before + 1:
                    self._tell(number, f"seq {index.last_seq} follows {before}; lines are missing")
                index.chunks.setdefault((index.last_seq - 1) // RAW_CHUNK, position)
            position += len(line)
            if len(line) == _LONGEST_LINE:
                index.problems.append("What follows that line is not read.")
                break
        self._keep_recent()
        if self._bad_lines > _MOST_PROBLEMS:
            index.problems.append(
                f"There are {self._bad_lines - _MOST_PROBLEMS:,} more such lines."
            )
        if not number:
            index.problems.append(f"{self._path} is empty: the process ended before any event.")
        return index

    def _tell(self, number: int, problem: str) -> None:
        self._bad_lines += 1
        if self._bad_lines <= _MOST_PROBLEMS:
            self._index.problems.append(f"{self._path}:{number}: {problem}.")

    def _add(self, line: bytes) -> None:
        """Add a line. Raises TraceError if it is not an event."""
        begin = line.find(_EVENT) + len(_EVENT)
        kind = line[begin : line.find(b'"', begin)] if line.startswith(_CURRENT) else b""
        try:
            if kind == b"request":
                self._add_request(_asked.decode(line))
            elif kind == b"response":
                self._add_response(_answered.decode(line))
            elif kind in _NOT_SHOWN:
                self._stamp(_stamps.decode(line))
            else:
                self._add_entry(read_line(line))
        except (msgspec.DecodeError, UnicodeDecodeError):
            self._add_entry(read_line(line))

    def _add_entry(self, entry: Entry) -> None:
        match entry.event:
            case RequestSeen() as request:
                fields = {name: getattr(request, name) for name in _ASKED}
                self._add_request(_Asked(seq=entry.seq, t=entry.t, **fields))
            case ResponseSeen() as response:
                fields = {name: getattr(response, name) for name in _ANSWERED}
                self._add_response(_Answered(seq=entry.seq, t=entry.t, **fields))
            case event:
                self._stamp(entry)
                if isinstance(event, LlmCall):
                    self._keep_recent()
                self._index.entries.append(entry)

    def _add_request(self, request: _Asked) -> None:
        self._stamp(request)
        self._rows[request.exchange] = self._index.exchanges.ask(
            request.exchange,
            request.seq,
            request.t,
            request.method,
            request.url,
            request.resource,
        )
        if request.top_level:
            self._page_exchanges.add(request.exchange)
            self._pages.append(request)
        elif not self._page_exchanges:
            self._others.append(request)

    def _add_response(self, response: _Answered) -> None:
        self._stamp(response)
        if (row := self._rows.pop(response.exchange, None)) is None:
            return
        self._index.exchanges.answer(
            row,
            response.seq,
            response.t,
            status=response.status,
            resource=response.resource,
            by=response.by,
            size=response.size,
            error=response.error,
        )
        if not self._page_exchanges:
            self._others.append(response)
        elif response.exchange in self._page_exchanges:
            self._pages.append(response)

    def _stamp(self, line: "_Asked | _Answered | _Stamps | Entry") -> None:
        """Count a line. Raises TraceError for a stamp that no trace has."""
        if not (0 < line.seq < LARGEST and 0 <= line.t < LARGEST):
            raise TraceError(f"seq {line.seq} or t {line.t} is out of range")
        self._index.last_seq = line.seq
        self._index.end = line.t

    def _keep_recent(self) -> None:
        """Keep the last pages, or requests of an agent without pages, as entries."""
        recent = sorted((*self._pages, *self._others), key=lambda line: line.seq)
        self._index.entries += map(_entry_of, recent)
        self._pages.clear()
        self._others.clear()


def _describe_damage(line: bytes, error: TraceError) -> str:
    if len(line) == _LONGEST_LINE:
        return f"this line has more than {_LONGEST_LINE:,} bytes, which no event has"
    if not line.endswith(b"\n"):
        return "the last line is cut short: its writer was killed, or still writes it"
    return f"{error}; it is left out"


def _entry_of(line: _Asked | _Answered) -> Entry:
    """Return a request or an answer with what `steps` reads of it."""
    event: RequestSeen | ResponseSeen
    if isinstance(line, _Asked):
        event = RequestSeen(
            exchange=line.exchange,
            method=line.method,
            url=line.url,
            resource=line.resource,
            top_level=line.top_level,
            http_version="",
            connection="",
            size=0,
        )
    else:
        event = ResponseSeen(
            exchange=line.exchange,
            status=line.status,
            resource=line.resource,
            by=line.by,
            size=line.size,
            timings=Timings(total=0),
            error=line.error,
        )
    return Entry(line.seq, line.t, "", event)
