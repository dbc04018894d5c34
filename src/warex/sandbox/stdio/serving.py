"""Runs a server of tools, with a relay on its standard input and output."""

import asyncio
import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from warex.clock import Clock
from warex.sandbox.direct import cannot_start, find_program
from warex.sandbox.job_control import forward_signals, signals_blocked
from warex.sandbox.stdio.pipes import PipeWriter, read_pipe
from warex.sandbox.stdio.relay import Relay
from warex.sandbox.stdio.trial import Trial

_SHELL: Final = "/bin/sh"
_PR_SET_PDEATHSIG: Final = 1
"""prctl(2): the signal that the kernel sends a process whose parent has died."""
_QUIET_S: Final = 0.5
"""Seconds of silence after which a stream that outlives the server is left: a process that the
server has left behind holds it open."""
_ENDINGS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@dataclass(frozen=True, slots=True)
class _Streams:
    """The client's ends."""

    source: int
    sink: int


def serve_stdio(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    trial: Trial,
    notice: Callable[[str], None],
    clock: Clock,
) -> int:
    """Run a server whose messages a trial decides on; return its exit code.

    The code is the server's, or 128 and the number of the signal that ended it. Raises MachineError
    if it cannot be started.
    """
    program = find_program(arguments[0], environment)
    streams = _taken_streams()
    # Messages wait in the pipe for a server that starts.
    with signals_blocked() as mask:
        process = _started(program, arguments, environment, mask)
        stops = threading.Event()

        def forward(number: int) -> None:
            if number in _ENDINGS:
                stops.set()
            process.send_signal(number)

        try:
            with forward_signals(forward):
                code = asyncio.run(_relayed(process, streams, trial, stops, notice, clock))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    return code if code >= 0 else 128 - code


def _taken_streams() -> _Streams:
    """Keep the client's streams for the messages: whatever else is printed goes to the error."""
    streams = _Streams(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return streams


def _started(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], mask: set[int]
) -> "subprocess.Popen[bytes]":
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def prepare() -> None:
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)

    def start(program: str, arguments: Sequence[str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            arguments,
            executable=program,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            preexec_fn=prepare,  # No thread runs yet.
        )

    try:
        try:
            return start(program, arguments)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            # A script without a shebang: the shell runs it, as in execvp(3).
            return start(_SHELL, [_SHELL, program, *arguments[1:]])
    except (OSError, subprocess.SubprocessError) as error:
        raise cannot_start(arguments[0], getattr(error, "strerror", str(error))) from None


async def _relayed(
    process: "subprocess.Popen[bytes]",
    streams: _Streams,
    trial: Trial,
    stops: threading.Event,
    notice: Callable[[str], None],
    clock: Clock,
) -> int:
    assert process.stdin is not None
    assert process.stdout is not None
    client = PipeWriter(streams.sink)
    server = PipeWriter(os.dup(process.stdin.fileno()))
    process.stdin.close()
    activity = 0
    is_crashed = False

    def crash() -> None:
        nonlocal is_crashed
        is_crashed = True
        client.close()
        process.kill()

    async with asyncio.TaskGroup() as group:
        relay = Relay(
            trial,
            client,
            server,
            crash=crash,
            begin_task=group.create_task,
            notice=notice,
            clock=clock,
        )

        async def from_client(data: bytes) -> bool:
            await relay.from_client(data)
            if not data:
                server.close()
            return not server.is_broken

        async def from_server(data: bytes) -> bool:
            nonlocal activity
            activity += 1
            await relay.from_server(data)
            activity += 1
            return not client.is_broken

        async def to_the_end(reading: "asyncio.Future[None]") -> None:
            await reading

        asking = group.create_task(to_the_end(read_pipe(streams.source, from_client)))
        output = os.dup(process.stdout.fileno())
        process.stdout.close()
        answering = group.create_task(to_the_end(read_pipe(output, from_server)))
        code = await asyncio.to_thread(process.wait)
        while not answering.done():
            before = activity
            await asyncio.wait({answering}, timeout=_QUIET_S)
            # It is odd while a piece is handled, which may wait for the client.
            if activity == before and (activity % 2 == 0 or stops.is_set()):
                break
        if not (stops.is_set() or is_crashed):
            await relay.wait_for_holds()
        relay.finish()
        for task in (asking, answering):
            task.cancel()
    return 1 if is_crashed else code
