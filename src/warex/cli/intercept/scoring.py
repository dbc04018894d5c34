"""Options of `warex exec` that reset a site before the command and score it afterwards."""

import os
import select
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from warex.errors import InputError

if TYPE_CHECKING:
    from warex.benchmarks.scoring.expectations import Expectation, Verdict

_MOST = 1 << 24
"""Bytes at the end of the command's output in which a text is searched."""
_POLL_SECONDS = 0.1
"""Seconds between two checks for the command's end."""
_NAMES = {
    "expect_text": "--expect",
    "expect_regex": "--expect-regex",
    "expect_url": "--expect-url",
    "check": "--check",
}
_OPTIONS = (
    click.option(
        "--expect",
        "expect_text",
        metavar="TEXT",
        help="Solved where this stands in what the command prints, to its output or error stream.",
    ),
    click.option("--expect-regex", metavar="REGEX", help="Solved where this is found there."),
    click.option(
        "--expect-url",
        metavar="URL",
        help="Solved where this is the last page that the browser opened; * is any text.",
    ),
    click.option(
        "--check",
        metavar="CMD",
        help="Solved where this command, run afterwards past the proxy, ends with code 0, not 1.",
    ),
    click.option(
        "--reset", metavar="CMD", help="Run this command before, past the proxy: it resets a site."
    ),
)


def scoring_options[F: Callable[..., Any]](command: F) -> F:
    """Add the options to a command."""
    return reduce(lambda made, option: option(made), reversed(_OPTIONS), command)


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
        given = {name: options.pop(name) for name in _NAMES}
        reset = options.pop("reset")
        if reset is None and all(value is None for value in given.values()):
            return cls()
        if given["expect_url"] is not None and options["out"] is None:
            raise InputError("--expect-url is told from the trace; give --out, too")
        if given["expect_url"] is not None and options["traffic"].record != "all":
            raise InputError("--expect-url needs all traffic read; leave --record concerned out")
        from warex.benchmarks.scoring.user_commands import require_program, split_command

        for option, text in (("--check", given["check"]), ("--reset", reset)):
            if text is not None:
                try:
                    require_program(split_command(text))
                except ValueError as error:
                    raise InputError(f"{option}: {error}") from None
        parts = split_command(reset) if reset is not None else ()
        return cls(_expected(given), parts)

    def reset(self, told: Callable[[str], None]) -> None:
        """Run the reset command, if any; ``told`` is called if it is slow. Raises TrialVoid."""
        if self.reset_parts:
            from warex.benchmarks.scoring.expectations import reset

            reset(self.reset_parts, notify=told)

    @contextmanager
    def capturing_output(self) -> Iterator[None]:
        """Copy the output of processes started in the block, if a text is expected.

        Output is passed on immediately; ``finish`` waits for the rest.
        """
        if self.expect is None or not self.expect.asks_the_answer:
            yield
            return
        with ExitStack() as held:
            self.copies = tuple(held.enter_context(_teed(stream)) for stream in (1, 2))
            yield

    def finish(self) -> None:
        """Wait for the last output; all writers have ended."""
        for copy in self.copies:
            copy.finish()

    def verdict(
        self, code: int, out: Path | None, told: Callable[[str], None] = lambda sentence: None
    ) -> "Verdict | None":
        """Return the verdict after the command's end; None if nothing is expected.

        ``told`` is called if a check is slow. Raises TrialVoid if there can be no verdict.
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
            notify=told,
        )


@dataclass(slots=True)
class _Tee:
    """Copies a stream to its target and keeps the end of it."""

    source: int
    target: int
    kept: deque[bytes] = field(default_factory=deque)
    over: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    @property
    def text(self) -> str:
        return b"".join(self.kept).decode("utf-8", "replace")

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
            self.kept.append(data)
            size += len(data)
            while size - len(self.kept[0]) > _MOST:
                size -= len(self.kept.popleft())
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


def _expected(given: dict[str, Any]) -> "Expectation | None":
    from warex.benchmarks.scoring.expectations import Expectation
    from warex.scenarios.mistakes import validate_document

    if all(value is None for value in given.values()):
        return None
    for name, value in given.items():
        key = name.removeprefix("expect_")
        mistakes = [] if value is None else validate_document(Expectation, {key: value})[1]
        if mistakes:
            raise InputError(f"{_NAMES[name]}: {mistakes[0]}")
    return Expectation.model_validate(
        {name.removeprefix("expect_"): v for name, v in given.items()}
    )
