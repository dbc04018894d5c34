"""A network namespace for commands, made without root, whose only way out is the proxy.

The listening sockets are made inside and passed out, so that the proxy serves them from the host's
network. The command sees the host's files, except a few for name resolution and trust.
"""

import array
import errno
import marshal
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from warex.errors import MachineError, ProcessDied
from warex.linux.sockets import stamp_arrivals
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.sandbox.environment import Environment
from warex.sandbox.namespace import bind_mounts, init_process
from warex.sandbox.namespace.diagnosis import diagnose
from warex.sandbox.namespace.loopback import LoopbackMonitor
from warex.sandbox.namespace.mount_plan import MountPlan, plan_mounts

_SOURCE: Final = Path(__file__).parents[3]
_START: Final = (
    "import sys; sys.path.append(sys.argv[1]); from warex.sandbox.namespace.setup import main;"
    " main(int(sys.argv[2]), int(sys.argv[3]))"
)
_LARGEST: Final = 65536
_CREDENTIALS: Final = struct.Struct("3i")
_UNFILTERED_SOCKETS: Final = (
    "the command can open sockets that belong to no network namespace (AF_VSOCK), since this kernel"
    " takes no filter of system calls (seccomp); what it sends by them is neither hit nor recorded"
)
_READY_SECONDS: Final = 120.0
"""Seconds; long, since many namespaces may be made at the same time."""
_END_SECONDS: Final = init_process.GRACE_SECONDS + 5.0

type _Stream = int | IO[bytes]


class CommandNotStarted(MachineError):
    """A command cannot be started in the namespace."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status
        """Exit code as of a shell: 127 if there is no such program, 126 if it may not be run."""


class NamespaceProcess:
    """A running command in the namespace."""

    def __init__(self, pid: int, line: socket.socket, launcher_ended: threading.Event) -> None:
        self.pid = pid
        """Process id in this process's PID namespace."""
        self._line = line
        self._launcher_ended = launcher_ended
        self._lock = threading.Lock()
        self._code: int | None = None

    def __del__(self) -> None:
        self._line.close()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; return the exit code, negative for a signal.

        Raises TimeoutError if it has not ended within ``timeout`` seconds.
        """
        with self._lock:
            if self._code is None:
                self._line.settimeout(timeout)
                message, _ = _receive(self._line)
                self._line.close()
                if message and message[0] == "ended":
                    self._code = message[1]
                else:
                    # The namespace has ended, and the kernel has killed its processes.
                    self._launcher_ended.set()
                    self._code = -signal.SIGKILL
            return self._code

    def signal(self, number: int) -> None:
        """Send a signal; do nothing if the command has ended."""
        # The namespace's process 1 sends it, since it knows whether the process id is still valid.
        with suppress(OSError):
            self._line.send(bytes([number]))


class _Setup(NamedTuple):
    """What the namespace's setup has passed out."""

    passed: PassedSockets
    loopback: LoopbackMonitor
    closed: bool
    """Whether other address families are blocked."""


class Namespace:
    """A namespace that is ready for commands."""

    def __init__(self, channel: socket.socket, made: _Setup, mounts: MountPlan, own: bool) -> None:
        self.passed = made.passed
        self.loopback = made.loopback
        self.notices = mounts.notices
        """Notices for the user."""
        self._channel = channel
        self._launcher_ended = threading.Event()
        self._mounts = mounts
        self._own_session = own

    def environment(self, base: Mapping[str, str]) -> Environment:
        """Return the commands' environment: trust in the CA, and no proxy."""
        return self._mounts.environment(base)

    def died(self) -> ProcessDied | None:
        """Return the error if the namespace has ended, and with it all commands."""
        try:
            # The channel only ever reports the end; a command's line may report it first.
            if not self._launcher_ended.is_set():
                self._channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except ConnectionError:
            pass
        return _namespace_died()

    def start(
        self,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        *,
        stdin: _Stream,
        stdout: _Stream,
        stderr: _Stream,
        cwd: Path | str | None = None,
        pass_fds: Sequence[int] = (),
    ) -> NamespaceProcess:
        """Start a command with these streams, and with ``pass_fds`` under the same numbers.

        Raises CommandNotStarted if it cannot be started, ProcessDied if the namespace ended before.
        """
        request = {
            "arguments": [os.fsencode(argument) for argument in arguments],
            "variables": {os.fsencode(k): os.fsencode(v) for k, v in variables.items()},
            "cwd": os.fspath(cwd or _working_folder()),
            "own_session": self._own_session,
            "pass_fds": list(pass_fds),
        }
        ours, theirs = _socket_pair()
        # The kernel adds each sender's process id, translated to this PID namespace.
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with ExitStack() as stack:
            stack.callback(ours.close)
            with theirs, _memfd(request) as written:
                streams = [_fd(stream) for stream in (stdin, stdout, stderr)]
                handles = [written, theirs.fileno(), *streams, *pass_fds]
                try:
                    socket.send_fds(self._channel, [init_process.START], handles)
                except OSError:
                    raise _namespace_died() from None
            process = 0
            while True:
                message, sender = _receive(ours)
                match message:
                    case ("process",):
                        process = sender
                    case ("started",) | None if process:
                        # Without a message it may have started all the same; wait() finds out.
                        stack.pop_all()
                        return NamespaceProcess(process, ours, self._launcher_ended)
                    case ("failed", int(number), str(name), bool(entering)):
                        raise _cannot_start(name, number, entering)
                    case _:
                        raise _namespace_died()


@contextmanager
def open_namespace(
    ca: CertificateAuthority, *, host_ports: Collection[int] = (), own_session: bool = True
) -> Iterator[Namespace]:
    """Yield a namespace for commands; at the end, end them and remove it.

    ``host_ports`` are ports of this machine's loopback that commands need to reach.
    ``own_session``: whether each leaves this process's session and terminal.

    Raises MachineError, with the remedy, if this machine does not allow it.
    """
    if sys.platform != "linux":
        raise MachineError(
            f"a namespace needs Linux, and this is {sys.platform}: use environment mode, or run"
            " WAREX in a Linux machine or container"
        )
    mounts = plan_mounts(ca)
    plan = {"host_ports": sorted(host_ports), **mounts.to_message()}
    channel, theirs = _socket_pair()
    with channel:
        with theirs, _memfd(plan) as written:
            process = _launch(theirs, written)
        try:
            made = _ready(channel, process.pid, host_ports)
            try:
                space = Namespace(channel, made, mounts, own_session)
                if not made.closed:
                    space.notices = (*space.notices, _UNFILTERED_SOCKETS)
                yield space
            finally:
                made.passed.close()
                made.loopback.close()
                _end(channel)
        finally:
            channel.close()
            _wait(process)
            if process.returncode and mounts.mount_point is not None:
                # It was killed before it could remove the mount point.
                bind_mounts.MountPoint(str(mounts.mount_point)).remove_if_unused()


def _launch(channel: socket.socket, plan: int) -> subprocess.Popen[bytes]:
    handles = (channel.fileno(), plan)
    arguments = (str(_SOURCE), *map(str, handles))
    try:
        return subprocess.Popen(
            # Without site-packages, to start quickly.
            [sys.executable, "-I", "-S", "-c", _START, *arguments],
            pass_fds=handles,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    except OSError as error:
        raise MachineError(
            f"the namespace's first process cannot be started: {error.strerror}: {sys.executable}"
        ) from None


def _ready(channel: socket.socket, pid: int, host_ports: Collection[int]) -> _Setup:
    """Wait until the process ``pid`` has made the namespace."""
    channel.settimeout(_READY_SECONDS)
    try:
        data, beside, _, _ = channel.recvmsg(
            _LARGEST, socket.CMSG_SPACE(64 * 4), socket.MSG_CMSG_CLOEXEC
        )
    except OSError as error:
        raise ProcessDied(f"the namespace was not made: {error}") from None
    channel.settimeout(None)
    message = _read(data)
    match message:
        case ("ready", bool(closed)):
            handles = array.array("i")
            for _, _, content in beside:
                handles.frombytes(content)
            *sockets, refusals = [socket.socket(fileno=handle) for handle in handles]
            passed = PassedSockets.of(sockets)
            for receiver in passed.dns_udp:
                stamp_arrivals(receiver)
            return _Setup(passed, LoopbackMonitor(refusals, pid, host_ports), closed)
        case ("refused", str(step), int(number)):
            raise MachineError(diagnose(step, number))
        case _:
            raise ProcessDied(
                "the namespace was not made: its first process was killed, or failed as its"
                " messages above say"
            )


def _end(channel: socket.socket) -> None:
    """Ask all commands to end; process 1 kills the others after the grace period."""
    with suppress(OSError):
        channel.send(init_process.END)
        channel.settimeout(_END_SECONDS)
        channel.recv(1)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _socket_pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


@contextmanager
def _memfd(value: dict[str, Any]) -> Iterator[int]:
    """Yield a memfd that holds a value: an environment may be too large for a message."""
    handle = os.memfd_create("warex")
    try:
        with open(handle, "wb", closefd=False) as file:
            marshal.dump(value, file)
        os.lseek(handle, 0, os.SEEK_SET)
        yield handle
    finally:
        os.close(handle)


def _receive(line: socket.socket) -> tuple[Any, int]:
    """Return the message, None at the end of the line, and the sender's process id."""
    try:
        data, beside, _, _ = line.recvmsg(_LARGEST, socket.CMSG_SPACE(_CREDENTIALS.size))
    except ConnectionError:
        return None, 0  # The peer was killed with unread data.
    sender = 0
    for level, kind, content in beside:
        if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            sender, _, _ = _CREDENTIALS.unpack(content[: _CREDENTIALS.size])
    return _read(data), sender


def _read(data: bytes) -> Any:
    return marshal.loads(data) if data else None


def _fd(stream: _Stream) -> int:
    return stream if isinstance(stream, int) else stream.fileno()


def _namespace_died() -> ProcessDied:
    return ProcessDied(
        "the command's namespace has gone: its first process was killed, or the machine ran out of"
        " memory"
    )


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise MachineError("the current folder is gone; cd to one that is there") from None


def _cannot_start(name: str, number: int, entering: bool) -> CommandNotStarted:
    why = os.strerror(number)
    if number in (errno.EMFILE, errno.EAGAIN):
        limit = "-n, for open files" if number == errno.EMFILE else "-u, for processes"
        return CommandNotStarted(
            f"{name!r} cannot be started: {why}; raise the limit (ulimit {limit})", 126
        )
    if entering:
        return CommandNotStarted(f"the folder {name!r} cannot be entered: {why}; name another", 126)
    return CommandNotStarted(
        f"{name!r} cannot be started: {why}; install it, or name another program",
        127 if number == errno.ENOENT else 126,
    )
