"""Process 1 of a namespace: starts commands on request, reaps orphans, ends with its owner.

When it ends, the kernel kills all other processes inside. Standard library only, to start quickly.
"""

import errno
import fcntl
import marshal
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Any, Final, NoReturn

from warex.linux.seccomp import restrict_socket_families
from warex.linux.syscalls import NOT_FOR_PROGRAMS, mount, prctl, unmount
from warex.sandbox.namespace.bind_mounts import SetupError

GRACE_SECONDS: Final = 3.0
"""Seconds for commands to end after SIGTERM, so that browsers can remove their profiles."""
START, END = b"s", b"e"

_MOST_MOUNTS: Final = 64
"""Largest number of stacked mounts at `/proc`; usually one, and one more for each namespace."""
_MAX_FDS: Final = 253
"""Largest number of file descriptors in one message (SCM_MAX_FD)."""
_PARENT_DEATH_SIGNAL, _DROP_FROM_BOUND = 1, 24
_IGNORED_BY_PYTHON: Final = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores by default."""
_SHELL: Final = b"/bin/sh"


def report_failure(channel: socket.socket, error: Exception) -> None:
    """Send the owner the reason why the namespace cannot be made."""
    if isinstance(error, SetupError):
        report = ("refused", error.step, error.errno)
    else:
        report = ("refused", repr(error), getattr(error, "errno", 0) or 0)
    with suppress(OSError):
        channel.send(marshal.dumps(report))


def serve(channel: socket.socket, sockets: list[socket.socket], had: int | None) -> NoReturn:
    """Run as process 1 until the channel closes.

    ``had``: the capabilities that commands keep, if root has more inside than outside.
    """
    try:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if had is None:
            _unmount_host_proc()
        try:
            mount("proc", "/proc", "proc", NOT_FOR_PROGRAMS)
        except OSError as error:
            report_failure(channel, SetupError("proc", error))
            os._exit(0)
        ready = marshal.dumps(("ready", restrict_socket_families()))
        socket.send_fds(channel, [ready], [sock.fileno() for sock in sockets])
        for sock in sockets:
            sock.close()
        CommandServer(channel, had).serve()
    except BrokenPipeError:
        pass  # The owner has gone.
    except BaseException as error:  # noqa: BLE001 - printed for debugging
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(0)


def _unmount_host_proc() -> None:
    """Unmount every `/proc` of the host's.

    Otherwise root could unmount the namespace's own `/proc` and enter the host's network by a
    process of the host. In a user namespace the mounts are locked (mount_namespaces(7)).
    """
    with suppress(OSError):
        for _ in range(_MOST_MOUNTS):
            unmount("/proc")


class CommandServer:
    """Runs the namespace's commands; each has a socket ("line") to its waiter, by process id."""

    def __init__(self, channel: socket.socket, had: int | None) -> None:
        self._channel = channel
        self._had = had
        self._lines: dict[int, socket.socket] = {}
        self._ending: float | None = None

    def serve(self) -> None:
        """Start, signal and reap commands; return when the owner closes or all have ended."""
        wake, woken = os.pipe()
        for handle in (wake, woken):
            os.set_blocking(handle, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        # The caller of WAREX may have blocked it.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while True:
            watched = {line.fileno(): process for process, line in self._lines.items()}
            for handle in watched:
                poll.register(handle, select.POLLIN)
            for handle, _ in poll.poll(self._timeout_ms()):
                if handle == wake:
                    with suppress(BlockingIOError):
                        os.read(wake, 4096)
                elif handle in watched:
                    self._handle_line(watched[handle])
                elif not self._handle_request():
                    return
            for handle in watched:
                poll.unregister(handle)
            running = self._reap()
            if self._ending is not None and (not running or time.monotonic() >= self._ending):
                return

    def _timeout_ms(self) -> int | None:
        """Return the poll timeout in milliseconds."""
        if self._ending is None:
            return None
        return max(0, int(1000 * (self._ending - time.monotonic())) + 1)

    def _handle_request(self) -> bool:
        """Handle the owner's request; return False if the owner has closed the channel."""
        try:
            what, handles, _, _ = socket.recv_fds(self._channel, 16, _MAX_FDS)
        except ConnectionError:
            return False
        for handle in handles:
            os.set_inheritable(handle, False)
        if what == START:
            self._start(handles)
        elif what == END:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGTERM)
            self._ending = time.monotonic() + GRACE_SECONDS
        return bool(what)

    def _handle_line(self, process: int) -> None:
        """Forward a signal to a command, or close its line if the waiter has closed it."""
        try:
            data = self._lines[process].recv(1)
        except ConnectionError:
            data = b""
        if data:
            with suppress(ProcessLookupError):
                os.kill(process, data[0])
        else:
            self._lines.pop(process).close()

    def _reap(self) -> bool:
        """Reap ended processes; return whether any is left."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if process == 0:
                return True
            if (line := self._lines.pop(process, None)) is not None:
                _send(line, ("ended", os.waitstatus_to_exitcode(status)))
                line.close()

    def _start(self, handles: list[int]) -> None:
        request: dict[str, Any] = marshal.loads(read_all(handles[0]))
        line = socket.socket(fileno=handles[1])
        inherited = handles[2:]
        try:
            out, failed = os.pipe()
            process = os.fork()
        except OSError as error:  # A limit of processes or open files.
            name = os.fsdecode(request["arguments"][0])
            _send(line, ("failed", error.errno, name, False))
            for handle in (line.detach(), *inherited):
                os.close(handle)
            return
        if process == 0:
            self._exec(request, inherited, line, failed)
        os.close(failed)
        for handle in inherited:
            os.close(handle)
        report = read_all(out)
        if not report:
            self._lines[process] = line
            _send(line, ("started",))
            return
        os.waitpid(process, 0)
        _send(line, ("failed", *marshal.loads(report)))
        line.close()

    def _exec(
        self, request: dict[str, Any], inherited: list[int], line: socket.socket, failed: int
    ) -> NoReturn:
        """Turn this process, a fork, into the command."""
        entering = True
        where: bytes = os.fsencode(request["cwd"])
        try:
            if request["own_session"]:
                os.setsid()
            # The kernel adds this process's id, translated to the receiver's PID namespace.
            line.send(marshal.dumps(("process",)))
            numbers: list[int] = [0, 1, 2, *request["pass_fds"]]
            above = max(numbers) + 1
            failed = _dup_above(failed, above)
            moved = [_dup_above(handle, above) for handle in inherited]
            for handle, number in zip(moved, numbers, strict=True):
                os.dup2(handle, number)
            os.chdir(where)
            entering, where = False, request["arguments"][0]
            self._reset_signals_and_capabilities()
            _execute(request["arguments"], request["variables"])
        except OSError as error:
            os.write(failed, marshal.dumps((error.errno, os.fsdecode(where), entering)))
        except BaseException as error:  # noqa: BLE001 - nothing may run on in a fork
            os.write(failed, marshal.dumps((errno.EINVAL, f"{where!r}: {error!r}", entering)))
        finally:
            os._exit(127)

    def _reset_signals_and_capabilities(self) -> None:
        """Reset signals, and drop capabilities that a command outside would not have."""
        for number in range(1, signal.NSIG):
            with suppress(OSError, ValueError):
                # Signals that the caller ignores stay ignored, as under nohup.
                if number in _IGNORED_BY_PYTHON or signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if self._had is not None and os.geteuid() == 0:
            for capability in range(64):
                if not self._had >> capability & 1:
                    prctl(_DROP_FROM_BOUND, capability)


def _dup_above(handle: int, least: int) -> int:
    """Duplicate a file descriptor to a number of at least ``least``."""
    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, least)
    except OSError as error:
        # fcntl(2) reports EINVAL beyond the limit.
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from error


def _execute(arguments: list[bytes], variables: dict[bytes, bytes]) -> None:
    """Execute a program; run a script without a shebang by the shell, as execvp(3) does."""
    try:
        os.execvpe(arguments[0], arguments, variables)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
    path = variables.get(b"PATH", os.fsencode(os.defpath))
    folders = [b""] if b"/" in arguments[0] else path.split(b":")
    places = [os.path.join(folder, arguments[0]) for folder in folders]
    script = next(place for place in places if os.access(place, os.X_OK))
    os.execve(_SHELL, [_SHELL, script, *arguments[1:]], variables)


def _send(line: socket.socket, message: tuple[Any, ...]) -> None:
    with suppress(OSError):  # The waiter may have closed it.
        line.send(marshal.dumps(message))


def read_all(handle: int) -> bytes:
    """Read an open file to its end and close it."""
    with open(handle, "rb") as file:
        return file.read()
