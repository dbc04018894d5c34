"""What exists is what the machine's resolver says."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from warex.proxy.dns import numbers, system_resolver
from warex.proxy.dns.system_resolver import (
    Resolution,
    SystemResolver,
    forward,
    nameservers,
    resolve_blocking,
)


def _answers(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Let the machine's resolver know these addresses of every name."""
    asked: list[str] = []

    def resolve(host: str, port: object, **how: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(None, None, 0, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def _fails(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def resolve(host: str, port: object, **how: object) -> None:
        raise socket.gaierror(code, "no")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


@pytest.mark.parametrize(
    ("code", "known"),
    [
        (socket.EAI_NONAME, Resolution(numbers.NXDOMAIN)),
        (socket.EAI_NODATA, Resolution()),
        (socket.EAI_AGAIN, Resolution(numbers.SERVFAIL)),
        (socket.EAI_FAIL, Resolution(numbers.SERVFAIL)),
    ],
)
def test_what_the_resolver_cannot_say_stays_unknown(
    monkeypatch: pytest.MonkeyPatch, code: int, known: Resolution
) -> None:
    _fails(monkeypatch, code)
    assert resolve_blocking("shop.test") == known


@pytest.mark.parametrize(
    ("addresses", "known"),
    [
        (("93.184.216.34",), Resolution(has_ipv4=True)),
        # There is no way to this one from anywhere; alone it is better than nothing.
        (("93.184.216.34", "100::1"), Resolution(has_ipv4=True)),
        (("100::1",), Resolution(has_ipv6=True)),
        (("127.0.0.1", "::1"), Resolution(loopback=("127.0.0.1", "::1"))),
        (("0.0.0.0",), Resolution(loopback=("0.0.0.0",))),
        (("127.0.0.1", "93.184.216.34"), Resolution(has_ipv4=True)),
        (("fe80::1%eth0", "10.0.0.1"), Resolution(has_ipv4=True)),
    ],
)
def test_families_are_those_that_can_be_reached(
    monkeypatch: pytest.MonkeyPatch, addresses: tuple[str, ...], known: Resolution
) -> None:
    monkeypatch.setattr(system_resolver, "_is_reachable", lambda address: False)
    _answers(monkeypatch, *addresses)
    assert resolve_blocking("shop.test") == known


def test_an_address_is_nobodys_name() -> None:
    assert resolve_blocking("192.0.2.1") == Resolution(numbers.NXDOMAIN)
    assert resolve_blocking("a" * 64 + ".test") == Resolution(numbers.NXDOMAIN)


async def test_one_name_is_asked_for_once_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _answers(monkeypatch, "93.184.216.34")
    names = SystemResolver()
    try:
        result = await asyncio.gather(*(names.resolve("shop.test") for _ in range(5)))
    finally:
        names.close()
    assert result == [Resolution(has_ipv4=True)] * 5
    assert asked == ["shop.test"]


def _bound_where_tcp_is_free() -> socket.socket:
    while True:
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("127.0.0.1", 0))
        with suppress(OSError), socket.create_server(server.getsockname()):
            return server
        server.close()


@pytest.fixture
def nameserver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[socket.socket]:
    """A nameserver of the machine, the second that it names; its UDP socket."""
    resolv = tmp_path / "resolv.conf"
    resolv.write_text("# comment\nnameserver 127.0.0.2\noptions edns0\nnameserver 127.0.0.1\n")
    with _bound_where_tcp_is_free() as server:
        server.setblocking(False)
        monkeypatch.setattr(system_resolver, "_RESOLV_CONF", resolv)
        monkeypatch.setattr(system_resolver, "_PORT", server.getsockname()[1])
        yield server


@pytest.mark.wire
async def test_a_question_goes_to_the_next_nameserver_that_answers(
    nameserver: socket.socket,
) -> None:
    loop = asyncio.get_running_loop()
    asking = asyncio.create_task(forward(b"\0\1question", tcp=False))
    asked, asker = await loop.sock_recvfrom(nameserver, 100)
    # Somebody else's answer is not believed.
    nameserver.sendto(b"\0\2stray", asker)
    nameserver.sendto(asked + b" answered", asker)
    assert await asking == b"\0\1question answered"


@pytest.mark.wire
async def test_a_question_over_tcp_is_forwarded_over_tcp(nameserver: socket.socket) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        size = int.from_bytes(await reader.readexactly(2))
        data = await reader.readexactly(size) + b" answered"
        writer.write(len(data).to_bytes(2) + data)
        writer.close()

    server = await asyncio.start_server(serve, *nameserver.getsockname())
    async with server:
        assert await forward(b"\0\1question", tcp=True) == b"\0\1question answered"


_LINK_LOCAL = """
import asyncio, os, select, socket, sys
from pathlib import Path
user = os.geteuid()
os.unshare(os.CLONE_NEWNET | (os.CLONE_NEWUSER if user else 0))
from warex.linux import rtnetlink
from warex.proxy.dns import numbers, system_resolver
rtnetlink.create_device()
rtnetlink.bring_up("lo")
rtnetlink.bring_up_device()
rtnetlink.add_address("fe80::53")
index = socket.if_nametoindex(rtnetlink.DEVICE)
server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
server.bind(("fe80::53", 0, 0, index))
# The kernel routes to the address only a moment after the device is up.
probe = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
while not select.select([server], [], [], 0.1)[0]:
    probe.sendto(b"", server.getsockname())
while select.select([server], [], [], 0)[0]:
    server.recv(1)
server.setblocking(False)
system_resolver._PORT = server.getsockname()[1]
system_resolver._RESOLV_CONF = Path(sys.argv[1])
Path(sys.argv[1]).write_text(f"nameserver fe80::53%{rtnetlink.DEVICE}")

async def main():
    asking = asyncio.create_task(system_resolver.forward(b"\\0\\1question", tcp=False))
    loop = asyncio.get_running_loop()
    data, asker = await asyncio.wait_for(loop.sock_recvfrom(server, 100), 10)
    server.sendto(data + b" answered", asker)
    print((await asking).decode())

asyncio.run(main())
"""


@pytest.mark.wire
def test_a_nameserver_may_have_an_address_of_one_link(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _LINK_LOCAL, str(tmp_path / "resolv.conf")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("\0\1question answered\n", "")


async def test_without_a_nameserver_there_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(system_resolver, "_RESOLV_CONF", tmp_path / "none")
    assert nameservers() == []
    assert await forward(b"\0\1question", tcp=False) is None
