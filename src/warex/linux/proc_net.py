"""Who listens on a port of this machine, by what the kernel says in /proc."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_LISTENS = "0A"
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


@dataclass(frozen=True, slots=True)
class Holder:
    """A program that listens."""

    user: int
    pid: int | None
    """None where it is somebody else's or in another container, so that it cannot be seen."""
    command: str = ""
    name: str = ""
    """Of the program, as the kernel keeps it, of at most 15 letters."""

    @property
    def is_warex(self) -> bool:
        """Whether it is a proxy of ours."""
        return "warex.proxy.process.forkserver" in self.command


def holder_of(port: int, tables: Iterable[Path] = _TABLES) -> Holder | None:
    """Return who listens on a TCP port, on whatever address; None where nobody does.

    ``tables`` are those of another network than this process's.
    """
    for table in tables:
        for line in _lines(table):
            # proc_net_tcp.txt: "sl LOCAL:PORT REMOTE:PORT STATE … uid timeout inode", in hex.
            _, local, _, state, _, _, _, user, _, inode, *_ = line.split()
            if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                return _found(int(user), inode)
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()[1:]
    except OSError:
        return []  # A machine without IPv6, or without /proc.


def _found(user: int, inode: str) -> Holder:
    wanted = f"socket:[{inode}]"
    for process in Path("/proc").iterdir():
        if not process.name.isdecimal():
            continue
        try:
            if any(os.readlink(handle) == wanted for handle in (process / "fd").iterdir()):
                command = (process / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
                name = (process / "comm").read_text(errors="replace").rstrip("\n")
                return Holder(user, int(process.name), command.decode(errors="replace"), name)
        except OSError:
            continue  # It has ended meanwhile, or is somebody else's.
    return Holder(user, None)
