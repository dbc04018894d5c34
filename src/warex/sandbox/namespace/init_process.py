"""Process 1 of a namespace: starts commands on request, takes in orphans, ends with its owner.

When it ends, the kernel ends everything else in there. Standard library only: a user waits for it.
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
"""Seconds that commands have to end by themselves, so that browsers take their profiles away."""
START, END = b"s", b"e"

_MOST_MOUNTS: Final = 64
"""One on top of the other, at `/proc`; there is one as a rule, and one more for each namespace."""
_MAX_FDS: Final = 253
"""In one message at most (SCM_MAX_FD)."""
_PARENT_DEATH_SIGNAL, _DROP_FROM_BOUND = 1, 24
_IGNORED_BY_PYTHON: Final = (signal.SIGPIPE, signal.SIGXFSZ)
"""Signals that Python ignores in every program of its own."""
_SHELL: Final = b"/bin/sh"


def report_failure(channel: socket.socket, error: Exception) -> None:
    """Tell the owner why there will be no namespace."""
    if isinstance(error, SetupError):
        said = ("refused", error.step, error.errno)
    else:
        said = ("refused", repr(error), getattr(error, "errno", 0) or 0)
    with suppress(OSError):
        channel.send(marshal.dumps(said))


def serve(channel: socket.socket, sockets: list[socket.socket], had: int | None) -> NoReturn:
    """Be process 1 until the channel closes.

    ``had``: the capabilities that commands may have, where root has more in here than outside.
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
        ready = marshal.dumps(("ready", (len(sockets) - 3) // 3, restrict_socket_families()))
        socket.send_fds(channel, [ready], [held.fileno() for held in sockets])
        for held in sockets:
            held.close()
        CommandServer(channel, had).serve()
    except BrokenPipeError:
        pass  # The owner has gone.
    except BaseException as error:  # noqa: BLE001 - who reads this is a person looking for a bug
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(0)


def _unmount_host_proc() -> None:
    """Unmount every `/proc` of the host's, which would else lie below ours.

    Root could take ours off, and enter the host's network by any process of the host's. Elsewhere
    the kernel does not let it be taken off (mount_namespaces(7), on locked mounts).
    """
    with suppress(OSError):
        for _ in range(_MOST_MOUNTS):
            unmount("/proc")


class CommandServer:
    """Commands in the namespace, by process id; each has a line to who waits for it."""

    def __init__(self, channel: socket.socket, had: int | None) -> None:
        self._channel = channel
        self._had = had
        self._lines: dict[int, socket.socket] = {}
        self._ending: float | None = None

    def serve(self) -> None:
        """Start, signal, reap; return when the owner has gone or all has ended as it wished."""
        wake, woken = os.pipe()
        for handle in (wake, woken):
            os.set_blocking(handle, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        # Whoever started WAREX may hold it back, and nobody's end would be heard of.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while True:
            watched = {line.fileno(): process for process, line in self._lines.items()}
            for handle in watched:
                poll.register(handle, select.POLLIN)
            for handle, _ in poll.poll(self._patience()):
                if handle == wake:
                    with suppress(BlockingIOError):
                        os.read(wake, 4096)
                elif handle in watched:
                    self._handle_line(watched[handle])
                elif not self._handle_request():
                    return
            for handle in watched:
                poll.unregister(handle)
            if not self._reap() and self._ending is not None:
                return
            if self._ending is not None and time.monotonic() >= self._ending:
                return

    def _patience(self) -> int | None:
        """Return for how many milliseconds to wait."""
        return None if self._ending is None else max(0, int(1000 * self._ending_in()) + 1)

    def _ending_in(self) -> float:
        return 0.0 if self._ending is None else self._ending - time.monotonic()

    def _handle_request(self) -> bool:
        """Do what the owner asks; return False where there is none any more."""
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
        """Pass a signal on to a command, or forget who waited for it."""
        try:
            said = self._lines[process].recv(1)
        except ConnectionError:
            said = b""
        if said:
            with suppress(ProcessLookupError):
                os.kill(process, said[0])
        else:
            self._lines.pop(process).close()

    def _reap(self) -> bool:
        """Take in whoever has ended; return whether anybody is left."""
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
        given = handles[2:]
        try:
            out, failed = os.pipe()
            process = os.fork()
        except OSError as error:  # A limit of processes or handles: of this command's start only.
            name = os.fsdecode(request["arguments"][0])
            _send(line, ("failed", error.errno, name, False))
            for handle in (line.detach(), *given):
                os.close(handle)
            return
        if process == 0:
            self._exec(request, given, line, failed)
        os.close(failed)
        for handle in given:
            os.close(handle)
        said = read_all(out)
        if not said:
            self._lines[process] = line
            _send(line, ("started",))
            return
        os.waitpid(process, 0)
        _send(line, ("failed", *marshal.loads(said)))
        line.close()

    def _exec(
        self, request: dict[str, Any], given: list[int], line: socket.socket, failed: int
    ) -> NoReturn:
        """Turn this process, a fork, into the command."""
        entering = True
        where: bytes = os.fsencode(request["cwd"])
        try:
            if request["own_session"]:
                os.setsid()
            # The kernel says beside it which process sent it, in the numbers of who receives it.
            line.send(marshal.dumps(("process",)))
            numbers: list[int] = [0, 1, 2, *request["pass_fds"]]
            above = max(numbers) + 1
            failed = _dup_above(failed, above)
            moved = [_dup_above(handle, above) for handle in given]
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
        """Have the signals and no more capabilities than a command outside would."""
        for number in range(1, signal.NSIG):
            with suppress(OSError, ValueError):
                # What the caller ignores stays ignored, as under nohup; Python's own does not.
                if number in _IGNORED_BY_PYTHON or signal.getsignal(number) is not signal.SIG_IGN:
                    signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if self._had is not None and os.geteuid() == 0:
            for capability in range(64):
                if not self._had >> capability & 1:
                    prctl(_DROP_FROM_BOUND, capability)


def _dup_above(handle: int, least: int) -> int:
    """Copy a handle out of the way of the numbers that a command is given."""
    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, least)
    except OSError as error:
        # Beyond the limit it is EINVAL (fcntl(2)), which says less.
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from error


def _execute(arguments: list[bytes], variables: dict[bytes, bytes]) -> None:
    """Become a program; a script that does not name its interpreter is the shell's (execvp(3))."""
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


def _send(line: socket.socket, said: tuple[Any, ...]) -> None:
    with suppress(OSError):  # Nobody may be waiting any more.
        line.send(marshal.dumps(said))


# ---- the kernel
def read_all(handle: int) -> bytes:
    """Return what an open file holds, and close it."""
    with open(handle, "rb") as file:
        return file.read()
