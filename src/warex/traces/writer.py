"""Appends events to a trace; a killed process loses at most the last line."""

from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from warex.clock import Clock, iso
from warex.errors import InputError
from warex.files.private import make_private_dir, private_opener
from warex.traces.events import (
    SCHEMA_VERSION,
    Event,
    TrialEnded,
)
from warex.traces.files import write_atomic, write_error
from warex.traces.redaction.event_lines import EventLines, without
from warex.traces.redaction.redactor import Redactor


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
        self.lines = EventLines(self.redactor)
        try:
            make_private_dir(path.parent)
            self._file = FileIO(path, "a", opener=private_opener)
        except OSError as error:
            raise write_error(path, error) from error
        if size := self._file.tell():
            self._file.close()
            raise InputError(
                f"{path} already holds a trace ({size} bytes). A folder holds one run: choose "
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
        if learned.is_empty:
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
            f"{self.lines.of(event)[1:]}\n"
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
