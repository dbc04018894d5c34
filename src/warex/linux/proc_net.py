"""The kernel's tables of TCP sockets, /proc/net/tcp and /proc/net/tcp6 (proc_pid_net(5)).

Only fast standard library imports: a namespace loads this module when it starts.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

type _Path = str | os.PathLike[str]

LISTEN: Final = "0A"
"""TCP_LISTEN of linux/tcp_states.h."""
TABLES: Final = ("/proc/net/tcp", "/proc/net/tcp6")
"""The tables of this process's own network namespace."""
_LITTLE: Final = sys.byteorder == "little"


class TcpSocket(NamedTuple):
    """One line of a table."""

    address: str
    """The local address in hexadecimal; each word is in the host's byte order."""
    port: int
    remote_port: int
    state: str
    user: int
    inode: str


class Listener(NamedTuple):
    """A listening program."""

    user: int
    pid: int | None
    """None if the process belongs to another user or container."""
    command: str = ""
    name: str = ""
    """The kernel's name of the program, at most 15 characters."""


def tables_of(pid: int) -> tuple[str, ...]:
    """Return the tables of a process's network namespace."""
    return tuple(f"/proc/{pid}/net/{name}" for name in ("tcp", "tcp6"))


def sockets(tables: Iterable[_Path] = TABLES) -> Iterator[TcpSocket]:
    """Yield the sockets of the tables that exist: a kernel without IPv6 has only one."""
    for table in tables:
        try:
            with open(table, encoding="ascii") as file:
                lines = file.read().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            # "sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …"
            _, local, remote, state, _, _, _, user, _, inode, *_ = line.split()
            address, _, port = local.rpartition(":")
            remote_port = int(remote.rpartition(":")[2], 16)
            yield TcpSocket(address, int(port, 16), remote_port, state, int(user), inode)


def listening(tables: Iterable[_Path] = TABLES) -> set[int]:
    """Return the loopback ports with a listener; empty if no table can be read."""
    return {it.port for it in sockets(tables) if it.state == LISTEN and _is_local(it.address)}


def listening_on_ipv6(tables: Iterable[_Path] = TABLES) -> set[int]:
    """Return the ports with a listener at ::1 or at every IPv6 address."""
    return {
        it.port
        for it in sockets(tables)
        if it.state == LISTEN and len(it.address) == 32 and _is_local(it.address, mapped=False)
    }


def loopback_of(port: int, tables: Iterable[_Path] = TABLES) -> str:
    """Return the loopback address of a port's listener, in URL form (RFC 3986, 3.2.2).

    It is the IPv4 address unless only ::1 listens.
    """
    at = {it.address for it in sockets(tables) if (it.port, it.state) == (port, LISTEN)}
    local = {address for address in at if _is_local(address)}
    return "[::1]" if local and all(map(_is_ipv6_loopback, local)) else "127.0.0.1"


def used(tables: Iterable[_Path]) -> set[int]:
    """Return the local and remote ports of all connections, including recently closed ones."""
    connections = [it for it in sockets(tables) if it.state != LISTEN]
    return {port for it in connections for port in (it.port, it.remote_port)}


def find_listener(port: int, tables: Iterable[_Path] = TABLES) -> Listener | None:
    """Return a listener on a port at any address; None if there is none."""
    for it in sockets(tables):
        if (it.port, it.state) == (port, LISTEN):
            return _owner(it.user, it.inode)
    return None


def _owner(user: int, inode: str) -> Listener:
    wanted = f"socket:[{inode}]"
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        process = f"/proc/{pid}"
        try:
            handles = os.listdir(f"{process}/fd")
            if any(os.readlink(f"{process}/fd/{handle}") == wanted for handle in handles):
                with open(f"{process}/cmdline", "rb") as file:
                    command = file.read().rstrip(b"\0").replace(b"\0", b" ")
                with open(f"{process}/comm", errors="replace") as comm:
                    name = comm.read().rstrip("\n")
                return Listener(user, int(pid), command.decode(errors="replace"), name)
        except OSError:
            continue  # The process has ended, or belongs to another user.
    return Listener(user, None)


def _is_local(address: str, *, mapped: bool = True) -> bool:
    """Whether a listener's address is reachable over loopback; ``mapped``: also if IPv4-mapped."""
    if len(address) == 8:
        return address == "00000000" or bytes.fromhex(address)[-1 if _LITTLE else 0] == 127
    words = [address[at : at + 8] for at in range(0, 32, 8)]
    if words[2] in ("FFFF0000", "0000FFFF"):
        return mapped and _is_local(words[3])
    return words[:3] == ["00000000"] * 3 and words[3] in ("00000000", "01000000", "00000001")


def _is_ipv6_loopback(address: str) -> bool:
    return len(address) == 32 and address[:24] == "0" * 24 and int(address[24:], 16) != 0
