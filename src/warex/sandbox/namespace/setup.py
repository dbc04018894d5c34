"""Makes a namespace, passes its sockets out, and forks its process 1.

The parent unshares, sets up network and mounts, then waits, to remove the mount point. The child
is process 1, which ends when the channel to its owner closes or the parent ends. So nothing
outlives the owner.

Standard library only, to start quickly.
"""

import marshal
import os
import signal
import socket
from contextlib import suppress
from typing import Any, Final

from warex.linux import nftables, rtnetlink
from warex.linux.proc_net import listening_on_ipv6
from warex.sandbox.namespace.bind_mounts import (
    MountPoint,
    SetupError,
    bind_files,
    read_file,
    write_file,
)
from warex.sandbox.namespace.init_process import read_all, report_failure, serve

IPV4_ADDRESS: Final = "192.0.2.2"
IPV6_ADDRESS: Final = "fd00:77::2"
"""Addresses of the device inside, from the ranges for documentation and private use."""
TCP_PORT, DNS_PORT = 1011, 1012
"""Reserved ports below 1024, so that no service of the command uses them."""

_SYS_ADMIN, _NET_ADMIN, _NET_BIND = 21, 12, 10

type _Plan = dict[str, Any]


def main(channel_handle: int, plan_handle: int) -> None:
    """Make the namespace that the plan describes, and serve the channel until it closes."""
    # The terminal's signals are for the command and the owner.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # A command inherits SIG_IGN, so use an empty handler unless the caller ignores it.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: None)
    # An inherited SIG_IGN would make waitpid fail.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    channel = socket.socket(fileno=channel_handle)
    channel.set_inheritable(False)
    plan: _Plan = marshal.loads(read_all(plan_handle))
    mount_point = MountPoint(plan["mount_point"])
    try:
        sockets, had = _set_up(plan, mount_point)
        child = os.fork()
    except (SetupError, OSError) as error:
        report_failure(channel, error)
        mount_point.remove()
        return
    if child == 0:
        serve(channel, sockets, had)
    channel.close()
    for sock in sockets:
        sock.close()
    os.waitpid(child, 0)
    mount_point.remove()


def _set_up(plan: _Plan, mount_point: MountPoint) -> tuple[list[socket.socket], int | None]:
    """Unshare, and set up network and mounts.

    Return the sockets and, if a user namespace added capabilities, those from before.
    """
    # A host port without an IPv6 listener must refuse ::1, so that clients try 127.0.0.1.
    six_outside = listening_on_ipv6()
    had = _capabilities()
    alone = _unshare(had)
    sockets = _network(plan, six_outside)
    bind_files(plan, mount_point)
    return sockets, None if alone else had


# ---- the namespaces


def _unshare(had: int) -> bool:
    """Leave the host's namespaces; return whether this needed no user namespace.

    Without one, root keeps its capabilities, such as access to other users' files.
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
        raise SetupError("user namespace", error) from None
    try:
        # The user id stays the same: all capabilities inside until execve, and none after.
        for name, value in (("setgroups", "deny"), ("uid_map", user), ("gid_map", group)):
            text = value if value == "deny" else f"{value} {value} 1"
            write_file(f"/proc/self/{name}", text.encode())
    except OSError as error:
        raise SetupError("user map", error) from None
    try:
        os.unshare(kinds)
    except OSError as error:
        raise SetupError("namespaces", error) from None
    return False


def _capabilities() -> int:
    """Return the effective capabilities of this process, as a mask."""
    for line in read_file("/proc/self/status").splitlines():
        if line.startswith(b"CapEff:"):
            return int(line.split()[1], 16)
    return 0


# ---- the network


def _network(plan: _Plan, six_outside: set[int]) -> list[socket.socket]:
    """Make the device and the rules; return the sockets in the order in which they are sent."""
    try:
        rtnetlink.bring_up("lo")
        rtnetlink.create_device()
        rtnetlink.bring_up_device()
        rtnetlink.add_address(IPV4_ADDRESS)
    except OSError as error:
        raise SetupError("device", error) from None
    own = [IPV4_ADDRESS]
    hosts = ["127.0.0.1"]
    # Without IPv6 on the host there is none inside.
    with suppress(OSError):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.bind(("::1", 0))
        rtnetlink.add_address(IPV6_ADDRESS)
        own.append(IPV6_ADDRESS)
        hosts.append("::1")
    # A dropped connection times out after 3 seconds, not 2 minutes.
    with suppress(OSError):
        write_file("/proc/sys/net/ipv4/tcp_syn_retries", b"1")
    ports = set(plan["host_ports"])
    if ports:
        # The kernel must not assign a passed-through port as a free port.
        with suppress(OSError):
            reserved = ",".join(map(str, sorted(ports)))
            write_file("/proc/sys/net/ipv4/ip_local_reserved_ports", reserved.encode())
    to = nftables.RedirectConfig(TCP_PORT, DNS_PORT, own, ports, ports & six_outside)
    try:
        rules, queue = nftables.open_socket(), nftables.open_socket()
        route = rtnetlink.open_socket()
        nftables.set_rules(rules, to)
        groups = (nftables.LOG_GROUP, nftables.REFUSED_GROUP)
        logs = [nftables.listen_to(group) for group in groups]
    except OSError as error:
        raise SetupError("rules", error) from None
    try:
        tcp = [_listener(host, TCP_PORT) for host in hosts]
        udp = [_bound(host, socket.SOCK_DGRAM, DNS_PORT) for host in hosts]
        dns = [_listener(host, DNS_PORT) for host in hosts]
    except OSError as error:
        raise SetupError("sockets", error) from None
    return [*tcp, *udp, *dns, route, rules, queue, *logs]


def _bound(host: str, kind: int, port: int) -> socket.socket:
    # Not the wildcard: a UDP answer must come from the address that was asked.
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
    bound.bind((host, port))
    return bound


def _listener(host: str, port: int) -> socket.socket:
    listener = _bound(host, socket.SOCK_STREAM, port)
    listener.listen(4096)
    return listener
