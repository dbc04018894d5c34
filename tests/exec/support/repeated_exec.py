"""python -m tests.exec.support.repeated_exec COUNT FOLDER: run `warex exec` COUNT times.

It prints what is left over. It becomes the first process of a new process namespace, so that
orphaned processes become its children, in a user namespace with a limit on other namespaces.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from tests.sandbox.support.users import USERS, User, command_as, environment_of

AT_ONCE = 4
LIMIT = 10
"""Allowed namespaces of each kind: the kernel removes ended ones late, but even 7 suffice."""
PATIENCE = 20.0

_PRIVATE = 16384 | 1 << 18
# Leaves a process behind, which WAREX has to end.
COMMAND = "setsid sleep 100 & exec true"


def main(count: int, folder: Path) -> None:
    _enter_namespaces()
    libc = ctypes.CDLL(None, use_errno=True)
    for source, target, kind, flags in (
        (None, b"/", None, _PRIVATE),
        (b"proc", b"/proc", b"proc", 0),
    ):
        if libc.mount(source, target, kind, ctypes.c_ulong(flags), None):
            raise OSError(ctypes.get_errno(), f"mount {target!r}")
    for kind_ in ("net", "pid"):
        Path(f"/proc/sys/user/max_{kind_}_namespaces").write_text(str(LIMIT))
    homes = {who: folder / str(who) for who in USERS}
    for who, home in homes.items():
        home.mkdir()
        if who.number is not None:
            os.chown(home, who.number, who.number)
    # The first run creates a CA, which is to stay.
    for who in USERS:
        _run(who, homes[who], "namespace")
    before = _state(folder)
    began = time.monotonic()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        runs = [
            (USERS[number % len(USERS)], "environment" if number % 5 == 4 else "namespace")
            for number in range(count)
        ]
        message = list(threads.map(lambda run: _run(run[0], homes[run[0]], run[1]), runs))
    seconds = time.monotonic() - began
    _reap_children(PATIENCE)
    failed = [it for it in message if it]
    report = {"failed": failed, "before": before, "after": _state(folder), "seconds": seconds}
    print(json.dumps(report))


def _enter_namespaces() -> None:
    """Become the first process of a new process namespace, with all users of this machine."""
    ready, go = os.pipe(), os.pipe()
    is_root = os.geteuid() == 0
    child = os.fork()
    if child:
        os.read(ready[0], 1)
        if is_root:
            for name in ("uid_map", "gid_map"):
                Path(f"/proc/{child}/{name}").write_text("0 0 65536\n")
        else:
            ids = {"uid_map": os.geteuid(), "gid_map": os.getegid()}
            Path(f"/proc/{child}/setgroups").write_text("deny")
            for name, number in ids.items():
                Path(f"/proc/{child}/{name}").write_text(f"{number} {number} 1")
        os.write(go[1], b"g")
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    os.unshare(os.CLONE_NEWUSER)
    os.write(ready[1], b"r")
    os.read(go[0], 1)
    os.unshare(os.CLONE_NEWPID | os.CLONE_NEWNS)
    first = os.fork()
    if first:
        _, status = os.waitpid(first, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 255)
    for handle in (*ready, *go):
        os.close(handle)


def _run(who: User, home: Path, mode: str) -> str:
    """Run `warex exec`; return its error and output, if any."""
    done = subprocess.run(
        command_as(
            who,
            ["-m", "warex.cli", "exec", "--quiet", "--isolate", mode, "--", "sh", "-c", COMMAND],
        ),
        env=environment_of(who, home) | {"TMPDIR": str(home)},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    output = done.stdout + done.stderr
    return f"{mode} as {who}: {done.returncode}: {output}" if done.returncode or output else ""


def _state(folder: Path) -> dict[str, list[str]]:
    """Return what could be left over: processes, namespaces, handles, mounts, files."""
    processes = sorted(int(it) for it in os.listdir("/proc") if it.isdecimal())
    return {
        "processes": [f"{it} {_command_line(it)}" for it in processes],
        "namespaces": sorted({link for it in processes for link in _namespaces(it)}),
        "handles": sorted(os.listdir("/proc/self/fd")),
        "mounts": sorted(Path("/proc/self/mountinfo").read_text().splitlines()),
        "files": sorted(str(it.relative_to(folder)) for it in folder.rglob("*")),
    }


def _command_line(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
    return "?"


def _namespaces(process: int) -> Iterator[str]:
    for kind in ("net", "mnt", "pid", "user"):
        with suppress(OSError):
            yield os.readlink(f"/proc/{process}/ns/{kind}")


def _reap_children(seconds: float) -> None:
    """Wait for orphaned children to end, and reap them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            process, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not process:
            signal.sigtimedwait([signal.SIGCHLD], 0.1)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    main(int(sys.argv[1]), Path(sys.argv[2]))
