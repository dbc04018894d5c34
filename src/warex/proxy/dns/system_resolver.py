"""Lookups by the machine's own resolver, whether it uses files, DNS or other sources."""

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from msgspec import Struct

from warex.lane.record.ip_address import parse_ip
from warex.proxy.dns.numbers import NOERROR, NXDOMAIN, SERVFAIL

_MAX_THREADS: Final = 16
"""Concurrent lookups."""
_TIMEOUT: Final = 10.0
"""Seconds after which a lookup has failed."""
_CACHE_SECONDS: Final = 3.0
"""Seconds for which a result is kept: a client asks for several types at once."""
_RESOLV_CONF: Final = Path("/etc/resolv.conf")
_PORT = 53
_DNS_TIMEOUT: Final = 5.0


class Resolution(Struct, frozen=True):
    """The result of a lookup."""

    rcode: int = NOERROR
    has_ipv4: bool = False
    has_ipv6: bool = False
    """Whether it has an IPv6 address that is usable on this machine."""
    loopback: tuple[str, ...] = ()
    """Its loopback addresses, if it has no others."""


class SystemResolver:
    """Looks names up in threads; concurrent lookups of a name share one result."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_MAX_THREADS, thread_name_prefix="lookup")
        self._asked: dict[str, asyncio.Task[Resolution]] = {}

    async def resolve(self, name: str) -> Resolution:
        """Look a name up."""
        loop = asyncio.get_running_loop()
        task = self._asked.get(name)
        if task is None:
            task = self._asked[name] = loop.create_task(self._ask(name))
            task.add_done_callback(
                lambda _: loop.call_later(_CACHE_SECONDS, self._asked.pop, name, None)
            )
        return await asyncio.shield(task)

    async def _ask(self, name: str) -> Resolution:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_TIMEOUT):
                return await loop.run_in_executor(self._threads, resolve_blocking, name)
        except TimeoutError:
            return Resolution(SERVFAIL)

    def close(self) -> None:
        """Cancel the lookups, without waiting for running threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for task in self._asked.values():
            task.cancel()


def resolve_blocking(name: str) -> Resolution:
    """Look a name up with the machine's resolver, blocking."""
    # An address is not a name, but getaddrinfo would accept it.
    if parse_ip(name) is not None:
        return Resolution(NXDOMAIN)
    try:
        results = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_NONAME:
            return Resolution(NXDOMAIN)
        if error.errno == getattr(socket, "EAI_NODATA", None):
            return Resolution()
        return Resolution(SERVFAIL)
    except UnicodeError:
        return Resolution(NXDOMAIN)
    addresses = [ip_address(str(it[4][0]).partition("%")[0]) for it in results]
    # 0.0.0.0 also means the local machine; blocklists often use it.
    here = [it for it in addresses if it.is_loopback or it.is_unspecified]
    if here and len(here) == len(addresses):
        return Resolution(loopback=tuple(dict.fromkeys(map(str, here))))
    remote = [it for it in addresses if it not in here]
    v4 = any(it.version == 4 for it in remote)
    v6 = [it for it in remote if it.version == 6]
    return Resolution(has_ipv4=v4, has_ipv6=bool(v6) and (not v4 or any(map(_is_reachable, v6))))


def _is_reachable(address: IPv4Address | IPv6Address) -> bool:
    """Whether the machine has a route to an address; nothing is sent."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect((str(address), 9))
        return True
    return False


async def forward(query: bytes, *, tcp: bool) -> bytes | None:
    """Forward a query to the machine's nameservers; return None if none answers."""
    for server in nameservers():
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(_DNS_TIMEOUT):
                return await (_by_tcp if tcp else _by_udp)(server, query)
    return None


async def _by_udp(server: str, query: bytes) -> bytes:
    loop = asyncio.get_running_loop()
    # The address has the link of one such as fe80::1%eth0; nothing is looked up.
    numeric = socket.AI_NUMERICHOST
    family, *_, address = socket.getaddrinfo(server, _PORT, type=socket.SOCK_DGRAM, flags=numeric)[
        0
    ]
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.setblocking(False)
        client.connect(address)
        await loop.sock_sendall(client, query)
        while (data := await loop.sock_recv(client, 65535))[:2] != query[:2]:
            pass  # The answer to another query.
        return data


async def _by_tcp(server: str, query: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(server, _PORT)
    try:
        writer.write(len(query).to_bytes(2) + query)
        return await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
    finally:
        writer.close()


def nameservers() -> list[str]:
    """Return the machine's nameservers."""
    try:
        lines = _RESOLV_CONF.read_text(errors="replace").splitlines()
    except OSError:
        return []
    words = [line.split() for line in lines]
    return [word[1] for word in words if len(word) > 1 and word[0] == "nameserver"]
