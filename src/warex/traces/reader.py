"""Reads a trace, also one whose writer was killed.

Lines in the writer's form are decoded at once (msgspec). Others take a slower way, which accepts
any JSON, and explains errors.
"""

import gc
import json
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr as share

from warex.errors import TraceError
from warex.files.reading import open_regular_file
from warex.traces.events import SCHEMA_VERSION, Entry, Event, LlmCall, RequestSeen
from warex.traces.older import MISTAKABLE, upgrade

_READ = range(1, SCHEMA_VERSION + 1)
_LONGEST = 1 << 28
"""The most bytes of a line."""
_EVENT = b',"event":'
"""The text behind the stamps in a written line."""
_UNCOUNTED = (b'"dns"', b'"tunnel"', b'"tls_rejected"', b'"websocket"')
"""Events that no figure depends on."""


class _Stamps(msgspec.Struct, frozen=True):
    schema_version: int
    seq: int
    t: float
    at: str


_EXCHANGED = (b'"request"', b'"response"')
_HEADERS = b',"headers":'
"""The text before the headers of a written request or response."""
_AFTER_HEADERS = (b',"headers_left_out":', b',"size":')
"""The text after them, of this and of earlier writers; they may also be last."""

_headers = msgspec.json.Decoder(list[tuple[str, str]])
_stamps = msgspec.json.Decoder(_Stamps)
_event = msgspec.json.Decoder(Event.__value__)


class Trace(Struct, frozen=True):
    """A whole trace in memory."""

    entries: tuple[Entry, ...]
    truncation: str | None = None
    """A sentence if the end of the trace is missing, else None."""

    def of(self, *kinds: type[Event]) -> tuple[Entry, ...]:
        """Return the entries with events of these types, in order."""
        return tuple(entry for entry in self.entries if type(entry.event) in kinds)

    def events[E: msgspec.Struct](self, kind: type[E]) -> tuple[E, ...]:
        """Return the events of this type without their stamps, in order."""
        return tuple(cast("E", e.event) for e in self.entries if type(e.event) is kind)


def read_trace(path: Path, *, lean: bool = False) -> Trace:
    """Read a trace. Raises TraceError as ``iter_trace`` does.

    ``lean`` leaves out the data that no figure depends on: DNS, tunnels, WebSockets, and the
    messages and tools of LLM calls, which are most of a trace.
    """
    lines = iter_trace(path, lean=lean)
    entries: list[Entry] = []
    with _uncollected():
        while True:
            try:
                entries.append(next(lines))
            except StopIteration as end:
                return Trace(tuple(entries), end.value)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable garbage collection: entries are many and have no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def iter_trace(path: Path, *, lean: bool = False) -> Generator[Entry, None, str | None]:
    """Yield the entries one by one; return a sentence if the end is missing, else None.

    Raises TraceError, with file and line, for a missing or unreadable file, an invalid event, an
    unknown ``schema_version`` and a gap in ``seq``. A cut last line, as of a killed process, is not
    an error.
    """
    number = 0
    before: int | None = None
    known: dict[Any, Any] = {}
    try:
        with open_regular_file(path, follow=False) as file:
            while line := file.readline(_LONGEST):
                number += 1
                try:
                    seq, entry = _entry(line, lean, known)
                except _NoEvent as error:
                    where = f"{path}:{number}"
                    if line.endswith(b"\n") or len(line) == _LONGEST:
                        raise TraceError(f"{where}: {error}.") from None
                    return (
                        f"{where}: the last line is cut short, so the process was killed while "
                        "writing it; the lines before are whole."
                    )
                if before is not None and seq != before + 1:
                    raise TraceError(
                        f"{path}:{number}: seq {seq} follows {before}. Lines are missing, or two "
                        "runs wrote into this file."
                    )
                before = seq
                if entry is not None:
                    yield entry
    except FileNotFoundError:
        raise TraceError(f"{path} does not exist, so there is no trace to read.") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error
    return None if number else f"{path} is empty: the process ended before its first event."


def read_line(line: bytes) -> Entry:
    """Return a line's event. Raises TraceError for any other line, with the reason."""
    try:
        entry = _entry(line, False, {})[1]
    except _NoEvent as error:
        raise TraceError(str(error)) from None
    assert entry is not None
    return entry


class _NoEvent(Exception):
    """The line is not an event; the message says why."""


def _entry(line: bytes, lean: bool, known: dict[Any, Any]) -> tuple[int, Entry | None]:
    """Return a line's number and its entry; None if ``lean`` leaves it out."""
    at = line.find(_EVENT)
    begin = at + len(_EVENT)
    if lean and line.startswith(_UNCOUNTED, begin) and at >= 0:
        return _uncounted(line)
    try:
        stamps = _stamps.decode(line[:at] + b"}")
        if line.startswith(_EXCHANGED, begin):
            event = _exchanged(line, at, known)
        else:
            event = _event.decode(b"{" + line[at + 1 :])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _with_care(line, lean)
    is_older = stamps.schema_version != SCHEMA_VERSION
    if stamps.schema_version not in _READ or (is_older and line.startswith(MISTAKABLE, begin)):
        return _with_care(line, lean)
    return stamps.seq, _stamped(stamps, event, lean)


def _stamped(stamps: _Stamps, event: Event, lean: bool) -> Entry:
    """Return an event with its stamps; ``lean`` leaves out messages."""
    if lean and type(event) is LlmCall:
        event = msgspec.structs.replace(event, messages=None, tools=None)
    return Entry(stamps.seq, stamps.t, stamps.at, event)


def _exchanged(line: bytes, at: int, known: dict[Any, Any]) -> Event:
    """Decode a request or a response, sharing equal headers.

    Headers are most of a trace: equal ones of requests are decoded once.
    """
    begin = line.find(_HEADERS, at)
    end = line.rfind(b"}")
    if begin < 0 or end < begin:
        return cast("Event", _event.decode(b"{" + line[at + 1 :]))
    for following in _AFTER_HEADERS:
        if (at_following := line.find(following, begin)) >= 0:
            end = at_following
            break
    event = _event.decode(b"{" + line[at + 1 : begin] + line[end:])
    written = line[begin + len(_HEADERS) : end]
    headers = known.get(written)
    if headers is None:
        headers = [known.setdefault(pair, pair) for pair in _headers.decode(written)]
        if type(event) is RequestSeen:
            # A response's contain the date, and rarely recur.
            known[written] = headers
    share(event, "headers", headers)
    return cast("Event", event)


def _uncounted(line: bytes) -> tuple[int, Entry | None]:
    try:
        stamps = _stamps.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _with_care(line, lean=True)
    return (stamps.seq, None) if stamps.schema_version in _READ else _with_care(line, True)


def _with_care(line: bytes, lean: bool) -> tuple[int, Entry | None]:
    data = _json(line)
    if not isinstance(data, dict) or "schema_version" not in data:
        raise _NoEvent("this is not an event: it has no schema_version")
    version = data.pop("schema_version")
    if version not in _READ:
        known = f"{_READ[0]} to {_READ[-1]}"
        raise _NoEvent(f"schema_version {version!r} is unknown; this WAREX reads {known}")
    upgrade(data, version)
    stamp_fields = {name: data.pop(name) for name in ("seq", "t", "at") if name in data}
    try:
        stamps = msgspec.convert({"schema_version": version, **stamp_fields}, _Stamps, strict=False)
        if lean and f'"{data.get("event")}"'.encode() in _UNCOUNTED:
            return stamps.seq, None
        event = msgspec.convert(data, Event.__value__, strict=False)
    except msgspec.ValidationError as error:
        raise _NoEvent(f"this is not an event: {explained(str(error))}") from None
    return stamps.seq, _stamped(stamps, event, lean)


def _json(line: bytes) -> Any:
    if len(line) == _LONGEST:
        raise _NoEvent(f"this line has more than {_LONGEST:,} bytes, which no event has")
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _NoEvent(f"this is not a line of JSON ({error})") from None


_REASONS = (
    (r"Object contains unknown field `(.*)`", r"\1: Extra inputs are not permitted"),
    (r"Object missing required field `(.*)`", r"\1: Field required"),
    (r"Expected `str.*", "Input should be a valid string"),
    (r"Expected `int.*", "Input should be a valid integer"),
    (r"Expected `float.*", "Input should be a valid number"),
    (r"Expected `bool.*", "Input should be true or false"),
    (r"Expected `array.*", "Input should be a list"),
    (r"Expected `object.*", "Input should be an object"),
)


def explained(reason_text: str) -> str:
    """Return msgspec's error as "place: reason"."""
    reason_text, _, place = reason_text.partition(" - at `$")
    place = place.removesuffix("`").strip(".")
    for pattern, reason in _REASONS:
        if match := re.fullmatch(pattern, reason_text):
            reason_text = match.expand(reason)
            break
    return f"{place}: {reason_text}" if place else reason_text
