"""What runs inside: makes the namespace, hands its sockets out, starts commands in it.

Two processes. The first unshares and lays everything out, then only waits, to take away what must
not stay on disk. Its child is process 1 of the namespace: it starts commands on request, takes in
orphans, and ends as soon as the channel to its owner closes, whereupon the kernel ends all others.
So nothing outlives its owner, whoever is killed.

A user waits for this: standard library only, and of WAREX only the two that speak netlink.
"""

import ctypes
import errno
import fcntl
import marshal
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NoReturn

from warex.proxy import netfilter
from warex.sandbox import netlink

FOUR: Final = "192.0.2.2"
SIX: Final = "fd00:77::2"
"""Addresses of the device inside; set aside for documentation and for nobody's network."""
TCP_PORT, DNS_PORT = 1011, 1012
"""Set aside, and below 1024, so that no service of the command's is in their place."""
GRACE: Final = 3.0
"""Seconds that commands have to end by themselves, so that browsers take their profiles away."""
START, END = b"s", b"e"

_FDS: Final = 256
"""Handles in one message at most, as the kernel has it (253) and a little more."""
_SYS_ADMIN, _NET_ADMIN, _NET_BIND = 21, 12, 10
_BIND, _REC, _PRIVATE, _READ_ONLY = 4096, 16384, 1 << 18, 1
_NOT_FOR_PROGRAMS: Final = 2 | 4 | 8  # nosuid, nodev, noexec
_DETACH: Final = 2
_PARENT_DEATH_SIGNAL, _DROP_FROM_BOUND = 1, 24
_SHELL: Final = b"/bin/sh"
_SETTING_UP: Final = ("/sys", "/mnt", "/tmp")

type _Plan = dict[str, Any]


class Refused(Exception):
    """This machine does not allow a step of the making."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(step)
        self.step = step
        self.errno = error.errno or 0


def main(channel_handle: int, plan_handle: int) -> None:
    """Make the namespace that the plan describes, and serve the channel until it closes."""
    # A Ctrl-C at the terminal is for the command and for our owner.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    channel = socket.socket(fileno=channel_handle)
    channel.set_inheritable(False)
    plan: _Plan = marshal.loads(_read(plan_handle))
    mount_point = MountPoint(plan["mount_point"])
    try:
        made = _make(plan, mount_point)
        child = os.fork()
    except (Refused, OSError) as error:
        _refuse(channel, error)
        mount_point.remove()
        return
    if child == 0:
        _first(channel, made)
    channel.close()
    for held in made["sockets"]:
        held.close()
    os.waitpid(child, 0)
    mount_point.remove()


def _make(plan: _Plan, mount_point: "MountPoint") -> _Plan:
    """Unshare, and lay out the network and the files; return what the first process needs."""
    six_outside = listening_on_six()
    had = _capabilities()
    alone = _unshare(had)
    sockets = _network(plan, six_outside)
    _files(plan, mount_point)
    return {"sockets": sockets, "had": None if alone else had}


def _refuse(channel: socket.socket, error: Exception) -> None:
    if isinstance(error, Refused):
        said = ("refused", error.step, error.errno)
    else:
        said = ("refused", repr(error), getattr(error, "errno", 0) or 0)
    with suppress(OSError):
        channel.send(marshal.dumps(said))


# ---- the namespaces


def _unshare(had: int) -> bool:
    """Leave the host's namespaces; return whether without a user namespace.

    Whoever may do without keeps all that they can: root, other people's files.
    """
    kinds = os.CLONE_NEWNET | os.CLONE_NEWNS | os.CLONE_NEWPID
    if all(had >> needed & 1 for needed in (_SYS_ADMIN, _NET_ADMIN, _NET_BIND)):
        with suppress(OSError):
            os.unshare(kinds)
            return True
    user, group = os.geteuid(), os.getegid()
    try:
        os.unshare(os.CLONE_NEWUSER)
    except OSError as error:
        raise Refused("user namespace", error) from None
    try:
        # The user stays who they are: all capabilities in here until execve, and none after.
        for name, value in (("setgroups", "deny"), ("uid_map", user), ("gid_map", group)):
            text = value if value == "deny" else f"{value} {value} 1"
            _write(f"/proc/self/{name}", text.encode())
    except OSError as error:
        raise Refused("user map", error) from None
    try:
        os.unshare(kinds)
    except OSError as error:
        raise Refused("namespaces", error) from None
    return False


def _capabilities() -> int:
    """Return the effective capabilities of this process, as a mask."""
    for line in _read_file("/proc/self/status").splitlines():
        if line.startswith(b"CapEff:"):
            return int(line.split()[1], 16)
    return 0


# ---- the network


def listening_on_six() -> set[int]:
    """Return the ports on which something listens at ::1 in this network namespace.

    Where nothing does, `localhost` must be refused by IPv6, so that clients turn to 127.0.0.1.
    """
    try:
        lines = _read_file("/proc/net/tcp6").splitlines()[1:]
    except OSError:
        return set()
    ports = set()
    for line in lines:
        local, _, state = line.split()[1:4]
        address, port = local.split(b":")
        if state == b"0A" and address in (b"0" * 32, b"0" * 24 + b"01000000", b"0" * 31 + b"1"):
            ports.add(int(port, 16))
    return ports


def _network(plan: _Plan, six_outside: set[int]) -> list[socket.socket]:
    """Make the device and the rules; return the sockets in the order in which they travel."""
    try:
        netlink.bring_up("lo")
        netlink.make_device()
        netlink.bring_up_device()
        netlink.give_address(FOUR)
    except OSError as error:
        raise Refused("device", error) from None
    own = [FOUR]
    hosts = ["127.0.0.1"]
    # A kernel without IPv6, or a host that has switched it off: so has the inside.
    with suppress(OSError):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
        netlink.give_address(SIX)
        own.append(SIX)
        hosts.append("::1")
    # A dropped connection times out after 3 seconds, not 2 minutes. No reason to do without all.
    with suppress(OSError):
        _write("/proc/sys/net/ipv4/tcp_syn_retries", b"1")
    ports = set(plan["host_ports"])
    to = netfilter.Redirection(TCP_PORT, DNS_PORT, own, ports, ports & six_outside)
    try:
        rules = netfilter.opened()
        netfilter.set_rules(rules, to)
        log = netfilter.listen_to_gates()
    except OSError as error:
        raise Refused("rules", error) from None
    try:
        tcp = [_listener(host, TCP_PORT) for host in hosts]
        udp = [_bound(host, socket.SOCK_DGRAM, DNS_PORT) for host in hosts]
        dns = [_listener(host, DNS_PORT) for host in hosts]
    except OSError as error:
        raise Refused("sockets", error) from None
    return [*tcp, *udp, *dns, rules, log]


def _bound(host: str, kind: int, port: int) -> socket.socket:
    # At a definite address: an answer from the wildcard would bear another than was asked.
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
    bound.bind((host, port))
    return bound


def _listener(host: str, port: int) -> socket.socket:
    listener = _bound(host, socket.SOCK_STREAM, port)
    listener.listen(4096)
    return listener


# ---- the files


class MountPoint:
    """A folder in the user's home that must exist to be laid over, and must not stay.

    Many may need it at once: each holds a shared lock while it does, and who takes it away must
    hold it alone.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._handle: int | None = None
        self._made: list[str] = []

    def make(self) -> bool:
        """Make and hold it; return whether that is possible here."""
        if self.path is None:
            return False
        self._made = list(_missing(self.path))
        for _ in range(100):
            try:
                os.makedirs(self.path, 0o700, exist_ok=True)
                self._handle = _held(self.path, fcntl.LOCK_SH)
            except FileNotFoundError:
                continue  # Taken away by another who has just ended.
            except OSError:
                return False
            if self._handle is not None:
                return True
        return False

    def remove(self) -> None:
        """Take it away if it is empty and nobody else holds it."""
        if self.path is None or self._handle is None:
            return
        with suppress(OSError):
            _unmount(self.path)  # It is laid over in here, by ourselves.
        os.close(self._handle)
        self._handle = None
        self.take_away()

    def take_away(self) -> None:
        """The same by somebody who has not laid it over."""
        if self.path is None:
            return
        with suppress(OSError):
            handle = _held(self.path, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if handle is None:
                return
            try:
                os.rmdir(self.path)
                # Its parent is there for it alone, whoever made it; others only if by us.
                parent = os.path.dirname(self.path)
                for path in (parent, *(path for path in self._made if path != parent)):
                    os.rmdir(path)
            finally:
                os.close(handle)


def _missing(path: str) -> Iterator[str]:
    """Return the folders above a path that are not there, the nearest first."""
    while not os.path.exists(path := os.path.dirname(path)):
        yield path


def _held(path: str, how: int) -> int | None:
    """Return a handle of a folder, locked; None if it has been taken away meanwhile."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, how)
        if os.path.samestat(os.fstat(handle), os.stat(path)):
            return handle
    except FileNotFoundError:
        pass
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _files(plan: _Plan, mount_point: MountPoint) -> None:
    """Lay the plan's files over those of the host, for this mount namespace only.

    They are copied to memory that vanishes with the namespace. It is mounted where it disturbs
    nobody, and only until each file has been bound to its place.
    """
    try:
        _mount(None, "/", None, _REC | _PRIVATE)
        scratch = next(path for path in _SETTING_UP if os.path.isdir(path))
        _mount("warex", scratch, "tmpfs", 2 | 4, "mode=0755")
    except OSError as error:
        raise Refused("mounts", error) from None
    laid = 0
    for target, names in plan["layers"]:
        layer = f"{scratch}/layer{(laid := laid + 1)}"
        os.mkdir(layer, 0o755)
        for name, content in names.items():
            _write(f"{layer}/{name}", content)
        # Where overlays are not allowed, those who look here for a certificate find none of ours.
        with suppress(OSError):
            _mount("warex", target, "overlay", _READ_ONLY, f"lowerdir={layer}:{target}")
    if mount_point.path is not None:
        mount_point.make()
    for target, content in plan["files"]:
        copy = f"{scratch}/{(laid := laid + 1)}"
        _lay(copy, content)
        with suppress(OSError):  # What is not there need not be covered.
            _mount(copy, os.path.realpath(target), None, _BIND)
    if plan["data"] is not None:
        folder, database = plan["data"]
        with suppress(OSError):
            _mount("warex", folder, "tmpfs", 2 | 4, "mode=0700")
            os.makedirs(f"{folder}/pki", 0o700)
            _lay(f"{folder}/pki/nssdb", database)
    for target in plan["hidden"]:
        with suppress(OSError):
            _mount("warex", target, "tmpfs", _NOT_FOR_PROGRAMS, "mode=0755")
    with suppress(OSError):
        _unmount(scratch)


def _lay(path: str, content: bytes | dict[str, bytes]) -> None:
    if isinstance(content, bytes):
        _write(path, content)
        return
    os.mkdir(path, 0o700)
    for name, each in content.items():
        _write(f"{path}/{name}", each, 0o600)


# ---- process 1


def _first(channel: socket.socket, made: _Plan) -> NoReturn:
    """Serve the channel until it closes; never return to the caller's stack."""
    try:
        _prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        try:
            _mount("proc", "/proc", "proc", _NOT_FOR_PROGRAMS)
        except OSError as error:
            _refuse(channel, Refused("proc", error))
            os._exit(0)
        sockets: list[socket.socket] = made["sockets"]
        ready = marshal.dumps(("ready", (len(sockets) - 2) // 3))
        socket.send_fds(channel, [ready], [held.fileno() for held in sockets])
        for held in sockets:
            held.close()
        Commands(channel, made["had"]).serve()
    except BrokenPipeError:
        pass  # The owner has gone.
    except BaseException as error:  # noqa: BLE001 - who reads this is a person looking for a bug
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(0)


class Commands:
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
                    self._heard(watched[handle])
                elif not self._asked():
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

    def _asked(self) -> bool:
        """Do what the owner asks; return False where there is none any more."""
        try:
            what, handles, _, _ = socket.recv_fds(self._channel, 16, _FDS)
        except ConnectionError:
            return False
        for handle in handles:
            os.set_inheritable(handle, False)
        if what == START:
            self._start(handles)
        elif what == END:
            with suppress(ProcessLookupError):
                os.kill(-1, signal.SIGTERM)
            self._ending = time.monotonic() + GRACE
        return bool(what)

    def _heard(self, process: int) -> None:
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
                _tell(line, ("ended", os.waitstatus_to_exitcode(status)))
                line.close()

    def _start(self, handles: list[int]) -> None:
        request: _Plan = marshal.loads(_read(handles[0]))
        line = socket.socket(fileno=handles[1])
        given = handles[2:]
        out, failed = os.pipe()
        process = os.fork()
        if process == 0:
            self._become(request, given, line, failed)
        os.close(failed)
        for handle in given:
            os.close(handle)
        said = _read(out)
        if not said:
            self._lines[process] = line
            _tell(line, ("started",))
            return
        os.waitpid(process, 0)
        _tell(line, ("failed", *marshal.loads(said)))
        line.close()

    def _become(
        self, request: _Plan, given: list[int], line: socket.socket, failed: int
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
            failed = fcntl.fcntl(failed, fcntl.F_DUPFD_CLOEXEC, above)
            moved = [fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, above) for handle in given]
            for handle, number in zip(moved, numbers, strict=True):
                os.dup2(handle, number)
            os.chdir(where)
            entering, where = False, request["arguments"][0]
            self._as_outside()
            _execute(request["arguments"], request["variables"])
        except OSError as error:
            os.write(failed, marshal.dumps((error.errno, os.fsdecode(where), entering)))
        except BaseException as error:  # noqa: BLE001 - nothing may run on in a fork
            os.write(failed, marshal.dumps((errno.EINVAL, f"{where!r}: {error!r}", entering)))
        finally:
            os._exit(127)

    def _as_outside(self) -> None:
        """Have the signals and no more capabilities than a command outside would."""
        for number in range(1, signal.NSIG):
            with suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if self._had is not None and os.geteuid() == 0:
            for capability in range(64):
                if not self._had >> capability & 1:
                    _prctl(_DROP_FROM_BOUND, capability)


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


def _tell(line: socket.socket, said: tuple[Any, ...]) -> None:
    with suppress(OSError):  # Nobody may be waiting any more.
        line.send(marshal.dumps(said))


# ---- the kernel

_libc = ctypes.CDLL(None, use_errno=True)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str = "") -> None:
    raw = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    if _libc.mount(*raw, ctypes.c_ulong(flags), os.fsencode(data)):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def _unmount(target: str) -> None:
    if _libc.umount2(os.fsencode(target), _DETACH):
        raise OSError(ctypes.get_errno(), f"umount {target}")


def _prctl(option: int, value: int) -> None:
    _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _read(handle: int) -> bytes:
    with open(handle, "rb") as file:
        return file.read()


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, content: bytes, mode: int = 0o644) -> None:
    # In one write, as the kernel's own files want it.
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        while content:
            content = content[os.write(handle, content) :]
    finally:
        os.close(handle)
