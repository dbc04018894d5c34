"""Starts proxies in milliseconds: a process that has mitmproxy loaded, and forks.

A fresh process for each trial means that nothing can leak from one to the next; importing mitmproxy
for each would cost more than a second. The server does nothing but fork, so it stays as it was
when it was warm.

Python's own forkserver would import the caller's main module again; a program that uses WAREX
without a ``__main__`` guard must not be run twice.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import ExitStack, suppress

from warex.errors import MachineError, ProcessDied
from warex.proxy.transparent.passed_sockets import PassedSockets, receive, send_socket

_START = "from warex.proxy.process.forkserver import main; main()"
_ENDING_SECONDS = 0.2


class Forkserver:
    """The caller's side: starts the server when first needed, asks it for processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._channel: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, passed: PassedSockets | None = None) -> socket.socket:
        """Start a proxy process; return the channel that it takes its configuration from.

        ``handed``: the sockets that it serves. The caller keeps its own copies of them.

        A server that has ended meanwhile is started anew. Raises ProcessDied where the next one
        ends, too, and MachineError where it was closed.
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
        """Return how the server ended; None if it runs, or nobody has needed it."""
        with self._lock:
            if self._process is None:
                return None
            with suppress(subprocess.TimeoutExpired):
                # Its sockets are closed some moments before its end is told.
                code = self._process.wait(_ENDING_SECONDS)
                return ProcessDied.with_code("the proxy's forkserver", code)
            return None

    def ensure_started(self) -> None:
        """Start the server now, so that the first trial need not wait for it."""
        with self._lock:
            self._ensure()

    @property
    def pid(self) -> int | None:
        """The server's process; None before it is needed."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """End the server for good. Proxies that still run end when their channels close."""
        with self._lock:
            self._closed = True
            self._end()

    def _send(self, theirs: socket.socket, passed: PassedSockets | None) -> bool:
        """Send a proxy's end of its channel to the server; return whether it could be sent."""
        channel = self._ensure()
        try:
            if passed is None:
                send_socket(channel, theirs)
            else:
                passed.send(channel, theirs)
        except OSError:
            return False
        return True

    def _ensure(self) -> socket.socket:
        """Return the channel to a server that runs, as far as is known."""
        if self._channel is None or self._process is None or self._process.poll() is not None:
            self._end()
            self._channel = self._launch()
        return self._channel

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            # Whoever is refused before the first proxy need not wait until it has loaded.
            self._process.terminate()
            self._process.wait()
        self._channel = self._process = None

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as unless_it_runs:
            unless_it_runs.callback(ours.close)
            self._process = subprocess.Popen(
                # -P: what lies in the caller's folder must not be taken for a module of ours.
                [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # A Ctrl-C is for the caller, who ends the proxies in good order.
                start_new_session=True,
            )
            unless_it_runs.pop_all()
        return ours


def main() -> None:
    """Serve forks until the caller closes its end."""
    # What loading makes stays, and looking for garbage in it meanwhile takes time for nothing.
    gc.disable()
    # A plug-in of pydantic's is not for us; to look for one is to read what each package declares.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"
    from warex.proxy.process.stub_modules import install_stubs

    install_stubs()
    from warex.proxy.process import worker
    from warex.traces.redaction.text import precompile as load_redaction

    worker.preload()
    channel = socket.socket(fileno=int(sys.argv[1]))
    # Nobody waits for the children: the kernel takes them away.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()
    gc.enable()
    forks = 0
    while True:
        received, passed = receive(channel)
        if not received:
            return
        if forks == 1:
            # Who runs one command reads the rules once; who runs trials, not for each of them.
            load_redaction()
        forks += 1
        try:
            is_proxy = os.fork() == 0
        except OSError as error:
            _report_failure(received[0], error)
            is_proxy = False
        if is_proxy:
            channel.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            code = 1
            try:
                worker.serve(received[0], passed)
                code = 0
            finally:
                os._exit(code)
        for held in (*received, *(passed.sockets if passed else ())):
            held.close()


def _report_failure(channel: socket.socket, error: OSError) -> None:
    """Say in a proxy's place that there is none."""
    sentence = f"the proxy cannot be started: {error.strerror}; raise the limit (ulimit -u)"
    said = {"kind": "failed", "exit_code": MachineError.exit_code, "sentence": sentence}
    with suppress(OSError):
        # Unread, the configuration would take our words with it.
        channel.makefile("rb").readline()
        channel.sendall(json.dumps(said).encode() + b"\n")
