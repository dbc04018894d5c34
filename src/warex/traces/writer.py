"""Appends events to a trace; a killed process loses at most the last line."""

import json
from functools import lru_cache
from io import FileIO
from itertools import starmap
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from msgspec.structs import replace

from warex.clock import Clock, iso
from warex.errors import InputError
from warex.files.private import make_private_dir, private_opener
from warex.traces.events import SCHEMA_VERSION, Event, Json, RequestSeen, ResponseSeen
from warex.traces.files import write_error
from warex.traces.redaction.structured import redact_header, redact_json, redact_line, redact_url


class TraceWriter:
    """Writes one trial's trace: a line per event, each in one unbuffered write that appends.

    Events survive ``kill -9`` once ``write`` has returned. Not thread-safe. Raises InputError if
    the file is not empty, MachineError if it cannot be made.
    """

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        try:
            make_private_dir(path.parent)
            self._file = FileIO(path, "a", opener=private_opener)
        except OSError as error:
            raise write_error(path, error) from error
        if held := self._file.tell():
            self._file.close()
            raise InputError(
                f"{path} already holds a trace ({held} bytes). A folder holds one run: choose "
                "another one or delete this one."
            )
        self._end = 0
        self._seq = 1
        self._torn = False

    def write(self, event: Event, t: float | None = None) -> None:
        """Append one redacted event, stamped with the clock's time or with second ``t``.

        Raises MachineError if that fails; earlier events are kept, and a later call may succeed.
        """
        line = self._line(event, t)
        try:
            written = self._file.write(line)
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError as error:
            self._take_back()
            raise write_error(self._path, error) from error
        self._end += len(line)
        self._seq += 1
        self._torn = False

    def _line(self, event: Event, t: float | None) -> bytes:
        now = self._clock.now()
        t = now if t is None else t
        at = iso(self._clock.wall() - (now - t))
        # Prefixed as text: a stamped copy of the event would double the cost.
        line = (
            f'{{"schema_version":{SCHEMA_VERSION},"seq":{self._seq},"t":{t:.6f},"at":"{at}",'
            f"{redacted(event)[1:]}\n"
        )
        return (b"\n" if self._torn else b"") + line.encode("utf-8", "replace")

    def _take_back(self) -> None:
        """Remove the rest of a failed write, so that the trace ends with a whole line."""
        try:
            self._file.truncate(self._end)
        except OSError:
            self._torn = True  # The next line must not follow the rest on the same line.

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


_encoder = msgspec.json.Encoder()
_OUR_OWN = frozenset({"exchange", "connection", "injection"})
"""Fields with values of WAREX only."""


def redacted(event: Event) -> str:
    """Return an event as JSON without secrets.

    Fields are redacted one by one, and cached: hosts, URLs, headers and messages recur often.
    """
    bare: Event
    match event:
        case RequestSeen(method=method, url=url):
            bare = replace(event, method=redact_url(method), url=redact_url(url), headers=[])
        case ResponseSeen(error=error):
            bare = replace(event, error=error and redact_url(error), headers=[])
        case _:
            return _redacted_fields(event)
    # Quotes are escaped in strings, so the first match is the field.
    pairs = ",".join(starmap(_pair, event.headers))
    return _value(bare).replace('"headers":[]', f'"headers":[{pairs}]', 1)


def _redacted_fields(event: Event) -> str:
    plain: dict[str, Json] = {"event": event.event}
    nested: list[str] = []
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if isinstance(value, str):
            plain[name] = value if name in _OUR_OWN else redact_url(value)
        elif name in ("messages", "tools"):
            nested.append(f',"{name}":{_value(redact_json(value))}')
        elif isinstance(value, dict | list | tuple):
            nested.append(f',"{name}":{_redacted_value(_value(value))}')
        else:
            plain[name] = value
    return f"{_value(plain)[:-1]}{''.join(nested)}}}"


@lru_cache(maxsize=2048)
def _pair(name: str, value: str) -> str:
    return _value(list(redact_header(name, value)))


_redacted_value = lru_cache(maxsize=1024)(redact_line)


def as_json(event: Event) -> str:
    """Return an event as JSON, not redacted."""
    return _value(event)


def _value(value: Json | Event) -> str:
    try:
        return _encoder.encode(value).decode()
    except (UnicodeEncodeError, OverflowError):
        # msgspec rejects lone surrogates, which replace bytes of headers that are not UTF-8;
        # they become question marks when the line is encoded.
        data = msgspec.to_builtins(value)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
