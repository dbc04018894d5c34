"""Appends events to a trace; a killed process loses at most the last line."""

import json
from collections.abc import Iterator
from functools import cache, lru_cache
from io import FileIO
from itertools import starmap
from pathlib import Path
from types import TracebackType, UnionType
from typing import Any, Literal, Self, TypeAliasType, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from warex.clock import Clock, iso
from warex.errors import InputError
from warex.files.private import make_private_dir, private_opener
from warex.traces.events import (
    SCHEMA_VERSION,
    AgentAction,
    Event,
    Json,
    LlmCall,
    McpCall,
    RequestSeen,
    ResponseSeen,
    TrialEnded,
)
from warex.traces.files import write_atomic, write_error
from warex.traces.redaction.redactor import LearnedSecrets, Redactor


class TraceWriter:
    """Writes one trial's trace: a line per event, each in one unbuffered write that appends.

    It redacts: what it is given may have secrets. Events survive ``kill -9`` once ``write`` has
    returned. Not thread-safe. Raises InputError if the file is not empty, MachineError if it cannot
    be made.
    """

    def __init__(self, path: Path, clock: Clock, redactor: Redactor | None = None) -> None:
        self.path = path
        self._clock = clock
        self.redactor = redactor or Redactor()
        self._lines = _Lines(self.redactor)
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
        self._redacted = 0

    def write(self, event: Event, t: float | None = None) -> None:
        """Append one redacted event, stamped with the clock's time or with second ``t``.

        Raises MachineError if that fails; earlier events are kept, and a later call may succeed.
        """
        if isinstance(event, TrialEnded):
            self._redact_again()
            event = replace(event, redacted=self._redacted)
        line = self._line(event, t)
        self._redacted += line.count(_REDACTED)
        try:
            written = self._file.write(line)
            while written < len(line):
                written += self._file.write(line[written:])
        except OSError as error:
            self._take_back()
            raise write_error(self.path, error) from error
        self._end += len(line)
        self._seq += 1
        self._torn = False

    def _redact_again(self) -> None:
        """Replace what was learned later in the lines that were written before."""
        learned = self.redactor.learned
        if not learned:
            return
        try:
            with open(self.path, "rb") as file:
                if not any(map(learned.in_text, file)):
                    return
        except OSError as error:
            raise write_error(self.path, error) from error
        self._redacted = 0
        write_atomic(self.path, self._cleaned_lines())
        try:
            self._file.close()
            self._file = FileIO(self.path, "a", opener=private_opener)
            self._end = self._file.tell()
        except OSError as error:
            raise write_error(self.path, error) from error

    def _cleaned_lines(self) -> Iterator[bytes]:
        learned = self.redactor.learned
        with open(self.path, "rb") as file:
            for line in file:
                if learned.in_text(line):
                    line = f"{without(line.decode(), learned)}\n".encode("utf-8", "replace")
                self._redacted += line.count(_REDACTED)
                yield line

    def _line(self, event: Event, t: float | None) -> bytes:
        now = self._clock.now()
        t = now if t is None else t
        at = iso(self._clock.wall() - (now - t))
        # Prefixed as text: a stamped copy of the event would double the cost.
        line = (
            f'{{"schema_version":{SCHEMA_VERSION},"seq":{self._seq},"t":{t:.6f},"at":"{at}",'
            f"{self._lines.of(event)[1:]}\n"
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


_REDACTED = b"[redacted"
"""What each placeholder begins with."""
_encoder = msgspec.json.Encoder()
_OUR_OWN = frozenset({"exchange", "connection", "injection"})
"""Fields with values of WAREX only."""
_FIXED = _OUR_OWN | {
    "agent",
    "benchmark",
    "condition",
    "defence",
    "effects",
    "fault",
    "finish",
    "http_version",
    "never",
    "page",
    "repeat_of",
    "replay_of",
    "resource",
    "rule",
    "scenario",
    "sites",
    "task",
    "usage",
    "versions",
    "vocabulary",
}
"""Fields whose values the user or WAREX chose, which readers compare."""


class _Lines:
    """Writes the events of one trial as JSON without secrets.

    Fields are redacted one by one, and cached: hosts, URLs, headers and messages recur often.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._pair = lru_cache(maxsize=2048)(self._new_pair)
        self._nested = lru_cache(maxsize=1024)(redactor.line)

    def of(self, event: Event) -> str:
        """Return an event as JSON."""
        line = self._by_shape(event)
        learned = self._redactor.learned
        if learned and learned.in_text(line.encode("utf-8", "surrogatepass")):
            return without(line, learned)
        return line

    def _by_shape(self, event: Event) -> str:
        redact_url = self._redactor.url
        bare: Event
        match event:
            case RequestSeen(method=method, url=url):
                bare = replace(event, method=redact_url(method), url=redact_url(url), headers=[])
            case ResponseSeen(error=error):
                bare = replace(event, error=error and redact_url(error), headers=[])
            case _:
                return self._by_fields(event)
        # Quotes are escaped in strings, so the first match is the field.
        pairs = ",".join(starmap(self._pair, event.headers))
        return _value(bare).replace('"headers":[]', f'"headers":[{pairs}]', 1)

    def _by_fields(self, event: Event) -> str:
        plain: dict[str, Json] = {"event": event.event}
        nested: list[str] = []
        for name in event.__struct_fields__:
            value = getattr(event, name)
            if isinstance(value, str):
                plain[name] = value if name in _OUR_OWN else self._text(event, name, value)
            elif isinstance(value, dict | list | tuple):
                nested.append(f',"{name}":{self._json(event, name, value)}')
            else:
                plain[name] = value
        return f"{_value(plain)[:-1]}{''.join(nested)}}}"

    def _text(self, event: Event, name: str, value: str) -> str:
        if isinstance(event, LlmCall) and name == "answer":
            answer = self._redactor.answer(value)
            assert isinstance(answer, str)
            return answer
        return self._redactor.url(value)

    def _json(self, event: Event, name: str, value: Any) -> str:
        redactor = self._redactor
        match event, name:
            case LlmCall(), "messages":
                return _value(redactor.messages(value))
            case LlmCall(), "tools":
                return _value(redactor.json(value))
            case LlmCall(), "tool_calls":
                return _value(redactor.answer(value))
            case McpCall(), "arguments" | "result":
                return _value(redactor.tool(event.tool, name, value))
            case AgentAction(), "arguments":
                value = redactor.json(redactor.arguments(value))
        return self._nested(_value(value))

    def _new_pair(self, name: str, value: str) -> str:
        return _value(list(self._redactor.header(name, value)))


def without(line: str, learned: LearnedSecrets) -> str:
    """Return an event's JSON without the learned secrets in the fields that others fill."""
    try:
        fields: dict[str, Json] = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return learned.replaced(line)  # The rest of a failed write.
    kind = _kinds()[str(fields["event"])]
    for name, value in fields.items():
        if name in _open_fields(kind) and value is not None:
            fields[name] = msgspec.json.decode(learned.replaced(_value(value)))
    return _value(fields)


@cache
def _kinds() -> dict[str, type[Event]]:
    return {str(kind.__struct_config__.tag): kind for kind in get_args(Event.__value__)}


@cache
def _open_fields(kind: type[Event]) -> frozenset[str]:
    """Return the fields of an event whose values may be any text."""
    hints = get_type_hints(kind)
    return frozenset(
        name
        for name in kind.__struct_fields__
        if name not in _FIXED and not _is_closed(hints[name])
    )


def _is_closed(hint: Any) -> bool:
    """Whether a field has a number or one of a few words."""
    while isinstance(hint, TypeAliasType):
        if hint is Json:
            return False
        hint = hint.__value__
    if get_origin(hint) is Literal:
        return True
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_closed, get_args(hint)))
    return hint in (int, float, bool, type(None))


def as_json(event: Event) -> str:
    """Return an event as JSON, not redacted."""
    return _value(event)


def _value(value: Any) -> str:
    try:
        return _encoder.encode(value).decode()
    except (UnicodeEncodeError, OverflowError):
        # msgspec rejects lone surrogates, which replace bytes of headers that are not UTF-8;
        # they become question marks when the line is encoded.
        data = msgspec.to_builtins(value)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
