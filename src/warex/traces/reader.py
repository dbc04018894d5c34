"""Reads a trace back, also one whose writer was killed."""

import json
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import from_json

from warex.errors import TraceError
from warex.traces.events import SCHEMA_VERSION, Entry, Event, event_adapter
from warex.traces.files import explain

_UNCOUNTED = frozenset(("dns", "tunnel", "tls_rejected", "websocket"))
"""Events that no figure rests on."""


class _Stamps(BaseModel, frozen=True):
    seq: int
    t: float
    at: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole trace in memory."""

    entries: tuple[Entry, ...]
    cut: str | None = None
    """None, or a sentence saying that the end of the trace is missing."""

    def of(self, *kinds: type[BaseModel]) -> tuple[Entry, ...]:
        """Return the entries whose event is of one of these types, in order."""
        # No event is a subclass of another, and pydantic's isinstance is slow.
        return tuple(entry for entry in self.entries if type(entry.event) in kinds)

    def events[E: BaseModel](self, kind: type[E]) -> tuple[E, ...]:
        """Return the events of this type without their stamps, in order."""
        return tuple(cast("E", e.event) for e in self.entries if type(e.event) is kind)


def read_trace(path: Path, *, lean: bool = False) -> Trace:
    """Read a trace. Raises TraceError as ``iter_trace`` does.

    ``lean`` leaves out what no figure rests on: events of names, tunnels and WebSockets, and the
    messages and tools of LLM calls, which are most of a trace.
    """
    lines = iter_trace(path, lean=lean)
    entries: list[Entry] = []
    while True:
        try:
            entries.append(next(lines))
        except StopIteration as end:
            return Trace(tuple(entries), end.value)


def iter_trace(path: Path, *, lean: bool = False) -> Generator[Entry, None, str | None]:
    """Yield the entries one by one; return a sentence if the end is missing, else None.

    Raises TraceError, with file and line, for a file that is missing or unreadable, a line that is
    no event, an unknown ``schema_version`` and a gap in ``seq``. A half last line is no error: it
    is what a killed process leaves behind.
    """
    number = 0
    before: int | None = None
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                where = f"{path}:{number}"
                try:
                    seq, entry = _entry(line, where, lean)
                except TraceError:
                    if line.endswith(b"\n"):
                        raise
                    return (
                        f"{where}: the last line is cut short, so the process was killed while "
                        "writing it; the lines before are whole."
                    )
                if before is not None and seq != before + 1:
                    raise TraceError(
                        f"{where}: seq {seq} follows {before}. Lines are missing, or two "
                        "runs wrote into this file."
                    )
                before = seq
                if entry is not None:
                    yield entry
    except FileNotFoundError:
        raise TraceError(f"{path} does not exist, so there is no trace to read.") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}.") from error
    return None if number else f"{path} is empty: the process ended before its first event."


def _entry(line: bytes, where: str, lean: bool) -> tuple[int, Entry | None]:
    data = _json(line, where)
    if not isinstance(data, dict) or "schema_version" not in data:
        raise TraceError(f"{where}: this is not an event: it has no schema_version.")
    version = data.pop("schema_version")
    if version != SCHEMA_VERSION:
        raise TraceError(
            f"{where}: schema_version {version!r} is unknown; this WAREX reads {SCHEMA_VERSION}."
        )
    stamps = {name: data.pop(name) for name in _Stamps.model_fields if name in data}
    if lean and data.get("event") == "llm_call":
        data |= {"messages": None, "tools": None}
    return _validated(stamps, data, where, lean and data.get("event") in _UNCOUNTED)


def _json(line: bytes, where: str) -> Any:
    try:
        # Twice as fast; but it knows no lone surrogates, which traces may hold.
        return from_json(line)
    except ValueError:
        pass
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{where}: this is not a line of JSON ({error}).") from None


def _validated(
    stamps: dict[str, JsonValue], data: dict[str, JsonValue], where: str, uncounted: bool
) -> tuple[int, Entry | None]:
    try:
        stamp = _Stamps.model_validate(stamps)
        if uncounted:
            return stamp.seq, None
        event: Event = event_adapter.validate_python(data)
    except ValidationError as error:
        raise TraceError(f"{where}: this is not an event: {explain(error)}.") from None
    return stamp.seq, Entry(seq=stamp.seq, t=stamp.t, at=stamp.at, event=event)
