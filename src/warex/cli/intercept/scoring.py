"""Options of `warex exec` that reset a site before the command and score it afterwards."""

import os
import select
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from warex.cli.options.parameters import add_options
from warex.errors import InputError

if TYPE_CHECKING:
    from warex.benchmarks.scoring.expectations import Expectation, Verdict

_MOST = 1 << 24
"""Bytes at the end of the command's output in which a text is searched."""
_POLL_SECONDS = 0.1
"""Seconds between two checks for the command's end."""
_EXPECTED = {
    "text": "--expect",
    "regex": "--expect-regex",
    "url": "--expect-url",
    "check": "--check",
}
"""The option of each field of an ``Expectation``."""
scoring_options = add_options(
    click.option(
        "--expect",
        "expect_text",
        metavar="TEXT",
        help="Solved if the command prints this to either stream.",
    ),
    click.option("--expect-regex", metavar="REGEX", help="Solved if the output matches this."),
    click.option(
        "--expect-url",
        metavar="URL",
        help="Solved if this is the browser's last page; * is any text.",
    ),
    click.option(
        "--check",
        "expect_check",
        metavar="CMD",
        help="Solved if this command, run afterwards without the proxy, exits with 0 (1: not"
        " solved; others void the trial).",
    ),
    click.option("--reset", metavar="CMD", help="Run this command first, without the proxy."),
)


@dataclass(slots=True)
class Scoring:
    """What is expected of a command, and its reset command."""

    expect: "Expectation | None" = None
    reset_parts: tuple[str, ...] = ()
    copies: tuple["_Tee", ...] = ()
    """Copies of the command's standard output and error, if a text is expected."""

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Self:
        """Remove the options from ``options`` and validate them. Raises InputError."""
        taken = {key: options.pop(f"expect_{key}") for key in _EXPECTED}
        options_set = {key: value for key, value in taken.items() if value is not None}
        reset = options.pop("reset")
        if reset is None and not options_set:
            return cls()
        if "url" in options_set and options["out"] is None:
            raise InputError("--expect-url is read from the trace; give --out, too")
        if "url" in options_set and options["traffic"].record != "all":
            raise InputError("--expect-url needs all traffic read; leave --record concerned out")
        from warex.benchmarks.scoring.user_commands import require_program, split_command

        for option, text in (("--check", options_set.get("check")), ("--reset", reset)):
            if text is not None:
                try:
                    require_program(split_command(text))
                except ValueError as error:
                    raise InputError(f"{option}: {error}") from None
        parts = split_command(reset) if reset is not None else ()
        return cls(_expected(options_set) if options_set else None, parts)

    def reset(self, notice: Callable[[str], None]) -> None:
        """Run the reset command, if any; ``notice`` is called if it is slow. Raises TrialVoid."""
        if self.reset_parts:
            from warex.benchmarks.scoring.expectations import reset

            reset(self.reset_parts, notify=notice)

    @contextmanager
    def capturing_output(self) -> Iterator[None]:
        """Copy the output of processes started in the block, if a text is expected.

        Output is passed on immediately; ``finish`` waits for the rest.
        """
        if self.expect is None or not self.expect.asks_the_answer:
            yield
            return
        with ExitStack() as stack:
            self.copies = tuple(stack.enter_context(_teed(stream)) for stream in (1, 2))
            yield

    def finish(self) -> None:
        """Wait for the last output; all writers have ended."""
        for copy in self.copies:
            copy.finish()

    def verdict(
        self, code: int, out: Path | None, notice: Callable[[str], None] = lambda sentence: None
    ) -> "Verdict | None":
        """Return the verdict after the command's end; None if nothing is expected.

        ``notice`` is called if a check is slow. Raises TrialVoid if there can be no verdict.
        """
        if self.expect is None:
            return None
        from warex.benchmarks.scoring.expectations import PRINTED, Verdict, judge
        from warex.traces import EVENTS, read_trace

        if code:
            how = f"code {code}" if code > 0 else f"signal {-code}"
            return Verdict(False, (f"the command ended with {how}",))
        trace = None if self.expect.url is None or out is None else read_trace(out / EVENTS)
        return judge(
            self.expect,
            answer=lambda: "\n".join(copy.text for copy in self.copies),
            answer_is=PRINTED,
            trace=trace,
            notify=notice,
        )


@dataclass(slots=True)
class _Tee:
    """Copies a stream to its target and keeps the end of it."""

    source: int
    target: int
    chunks: deque[bytes] = field(default_factory=deque)
    over: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def text(self) -> str:
        return b"".join(self.chunks).decode("utf-8", "replace")

    def start(self) -> None:
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def finish(self) -> None:
        self.over.set()
        if self.thread is not None:
            self.thread.join()

    def _run(self) -> None:
        size, heard = 0, True
        while True:
            if not select.select([self.source], [], [], _POLL_SECONDS)[0]:
                if self.over.is_set():
                    break  # Ignore processes that outlive the command.
                continue
            data = os.read(self.source, 65536)
            if not data:
                break
            self.chunks.append(data)
            size += len(data)
            while size - len(self.chunks[0]) > _MOST:
                size -= len(self.chunks.popleft())
            while data and heard:
                try:
                    data = data[os.write(self.target, data) :]
                except OSError:
                    heard = False  # The reader has gone; keep reading for the command.
        os.close(self.source)
        os.close(self.target)


@contextmanager
def _teed(stream: int) -> Iterator[_Tee]:
    """Replace a standard stream by a copied pipe for processes started in the block."""
    ours = os.dup(stream)
    source, into = os.pipe()
    os.dup2(into, stream)
    os.close(into)
    copy = _Tee(source, ours)
    try:
        yield copy
    finally:
        os.dup2(ours, stream)
        copy.start()


def _expected(values: dict[str, str]) -> "Expectation":
    from warex.benchmarks.scoring.expectations import Expectation
    from warex.scenarios.mistakes import validate_document

    for key, value in values.items():
        if mistakes := validate_document(Expectation, {key: value})[1]:
            raise InputError(f"{_EXPECTED[key]}: {mistakes[0]}")
    return Expectation.model_validate(values)
