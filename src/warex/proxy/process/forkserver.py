"""Starts proxies in milliseconds: a server process that has the proxy loaded, and forks.

With a fresh process for each trial nothing can leak from one to the next; importing the proxy for
each would take a second.

Python's own forkserver imports the caller's main module again, which would run a program without a
``__main__`` guard twice.
"""

import gc
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final, NoReturn

from warex.errors import MachineError, ProcessDied

if TYPE_CHECKING:
    from warex.proxy.transparent.passed_sockets import PassedSockets

_START = "from warex.proxy.process.forkserver import main; main()"
_ENDING_SECONDS, _POLL_SECONDS = 0.2, 0.005
_MOST_HANDLES: Final = 1 << 20
_NO_THREAD_CACHE: Final = "glibc.malloc.tcache_count=0"
"""Freed blocks are joined at once. Kept apart in a thread's cache, they split up the heap of a lane
that serves many connections: 18 MB in 100,000 requests instead of 7 (`bench soak`)."""


class Forkserver:
    """The caller's side: starts the server on demand and requests processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None
        self._process_is_proxy = False

    def start(self, passed: "PassedSockets | None" = None) -> socket.socket:
        """Start a proxy process; return the channel for its configuration.

        ``passed``: the sockets that it serves; the caller keeps its own copies. A server that has
        ended is restarted. Raises ProcessDied if the new one ends, too, MachineError if it was
        closed.
        """
        ours, theirs = socket.socketpair()
        with self._lock, theirs:
            if self._closed:
                ours.close()
                raise MachineError("the proxy's forkserver was closed before it was asked")
            if not self._send(theirs, passed):
                self._end()
                if not self._send(theirs, passed):
                    ours.close()
                    raise ProcessDied(
                        "the proxy's forkserver ends as soon as it is started; look at its"
                        " messages above"
                    )
        return ours

    def died(self) -> ProcessDied | None:
        """Return how the server ended; None if it runs or was not started."""
        with self._lock:
            if self._process is None:
                return None
            with suppress(subprocess.TimeoutExpired):
                # Its sockets are closed shortly before its exit status is available.
                code = self._process.wait(_ENDING_SECONDS)
                return ProcessDied.with_code("the proxy's forkserver", code)
            return None

    def ensure_started(self) -> None:
        """Start the server now, so that the first trial does not wait for it."""
        with self._lock:
            self._ensure()

    def fork(self) -> None:
        """Load the first proxy now, in a copy of this process; raise OSError if it cannot be made.

        The copy does not start an interpreter and import again what this process has imported, and
        serves that proxy itself; for a further one, a server is started. Only for a process that
        has one thread and has loaded little, since the proxy has copies of all of it. Its allocator
        keeps glibc's cache of freed blocks, which only a new program can turn off.
        """
        ours, theirs = socket.socketpair()
        with self._lock, theirs, ExitStack() as unless_it_runs:
            unless_it_runs.callback(ours.close)
            pid = os.fork()
            if pid == 0:
                ours.close()
                _run_copy(theirs.detach())
            unless_it_runs.pop_all()
            self._channel, self._process = ours, ForkedProcess(pid)

    @property
    def pid(self) -> int | None:
        """The server's process ID; None before it is started."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Stop the server permanently; running proxies end when their channels close."""
        with self._lock:
            self._closed = True
            self._end()

    def _send(self, theirs: socket.socket, passed: "PassedSockets | None") -> bool:
        """Send a proxy's end of its channel to the server; return whether that succeeded."""
        from warex.proxy.transparent.passed_sockets import send

        channel = self._ensure()
        try:
            send(channel, theirs, passed)
        except OSError:
            return False
        self._process_is_proxy = isinstance(self._process, ForkedProcess)
        return True

    def _ensure(self) -> socket.socket:
        """Return the channel to the server, started if necessary."""
        if self._process_is_proxy:
            # It ends when its own channel closes, as every proxy.
            self._process, self._process_is_proxy = None, False
        if self._channel is None or self._process is None or self._process.poll() is not None:
            self._end()
            self._channel = self._launch()
        return self._channel

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            # Terminate: a server that is still loading would not notice the closed channel.
            self._process.terminate()
            self._process.wait()
        self._channel = self._process = None

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as unless_it_runs:
            unless_it_runs.callback(ours.close)
            self._process = subprocess.Popen(
                # -P: do not import modules from the caller's folder.
                [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=server_environment(os.environ),
                # Ctrl-C is for the caller, which shuts the proxies down.
                start_new_session=True,
            )
            unless_it_runs.pop_all()
        return ours


def server_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a forkserver: the caller's, but for how glibc allocates.

    Tunables that the caller has set come last, and so win.
    """
    tunables = environment.get("GLIBC_TUNABLES")
    return {
        **environment,
        "GLIBC_TUNABLES": f"{_NO_THREAD_CACHE}:{tunables}" if tunables else _NO_THREAD_CACHE,
    }


class ForkedProcess:
    """A copy of this process, with what ``Forkserver`` needs of ``subprocess.Popen``."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        """The exit code, negative for a signal, once it has been waited for."""

    def poll(self) -> int | None:
        """Return the exit code; None if it runs."""
        return self._reap(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raise TimeoutExpired after ``timeout`` seconds."""
        ends = math.inf if timeout is None else time.monotonic() + timeout
        while (code := self._reap(0 if timeout is None else os.WNOHANG)) is None:
            if timeout is not None and time.monotonic() > ends:
                raise subprocess.TimeoutExpired("forkserver", timeout)
            time.sleep(_POLL_SECONDS)
        return code

    def terminate(self) -> None:
        """Ask it to end, unless it has been waited for: its id may then be another's."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def _reap(self, options: int) -> int | None:
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, options)
            except ChildProcessError:
                # Someone else has reaped it, so its exit code is lost, as in ``subprocess``.
                pid, status = self.pid, 0
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _run_copy(channel: int) -> NoReturn:
    """Serve one proxy, in the state of one that a server forked."""
    code = 1
    try:
        # Ctrl-C is for the caller, which shuts the proxies down.
        os.setsid()
        if not sys.flags.safe_path:
            # Do not import modules from the caller's folder.
            del sys.path[0]
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(channel, 3)
        os.closerange(4, _MOST_HANDLES)
        _serve_one(socket.socket(fileno=3))
        code = 0
    except Exception:  # noqa: BLE001 - as an interpreter does that ends by it
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(code)


def main() -> None:
    """Fork on request until the caller closes the channel, whose descriptor is an argument."""
    _serve_forks(socket.socket(fileno=int(sys.argv[1])))


def _load_proxy() -> None:
    """Import what proxies need, and make what they share."""
    # Loaded objects stay, so collecting garbage during the imports is useless.
    gc.disable()
    # Pydantic would read the metadata of every package to find plug-ins.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"
    from warex.proxy.process import worker

    worker.preload()
    gc.freeze()
    gc.enable()


def _serve_one(channel: socket.socket) -> None:
    """Serve the first proxy that the caller asks for; return at its end."""
    _load_proxy()
    from warex.proxy.process import worker
    from warex.proxy.transparent.passed_sockets import receive

    received, passed = receive(channel)
    channel.close()
    if received is not None:
        worker.serve(received, passed)


def _serve_forks(channel: socket.socket) -> None:
    """Fork a proxy on each request; return when the caller closes the channel."""
    _load_proxy()
    from warex.proxy.process import worker
    from warex.proxy.transparent.passed_sockets import receive

    # The kernel reaps the children.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    forks = 0
    while True:
        received, passed = receive(channel)
        if received is None:
            return
        if forks == 1:
            # With several trials, load once what a single one may never need.
            worker.preload_late()
            gc.freeze()
        forks += 1
        try:
            is_proxy = os.fork() == 0
        except OSError as error:
            _report_failure(received, error)
            is_proxy = False
        if is_proxy:
            channel.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            code = 1
            try:
                worker.serve(received, passed)
                code = 0
            finally:
                os._exit(code)
        received.close()
        if passed is not None:
            passed.close()


def _report_failure(channel: socket.socket, error: OSError) -> None:
    """Report on a proxy's channel that it cannot be started."""
    import json

    sentence = f"the proxy cannot be started: {error.strerror}; raise the limit (ulimit -u)"
    report = {"kind": "failed", "exit_code": MachineError.exit_code, "sentence": sentence}
    with suppress(OSError):
        # Closing a socket with unread data would discard the message.
        channel.makefile("rb").readline()
        channel.sendall(json.dumps(report).encode() + b"\n")
