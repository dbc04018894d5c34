"""Names that exist outside exist inside, at addresses of their own; the others stay unknown."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from mitmproxy import dns
from mitmproxy.net.dns import response_codes, types

from tests.proxy.dns.test_messages import opt, query
from warex.proxy.dns.server import DnsServer, LookupFault
from warex.proxy.dns.virtual_addresses import VirtualAddresses, is_virtual
from warex.traces import Dns

pytestmark = pytest.mark.wire


@dataclass
class _Faults:
    codes: dict[str, int | None] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    def plan(self, name: str) -> LookupFault | None:
        if name not in self.codes:
            return None
        return LookupFault(self.codes[name], lambda: self.sent.append(name))


class _Asker:
    """A resolver with sockets of this test's own, and a client of it."""

    def __init__(self, **options: Any) -> None:
        self.names, self.faults = VirtualAddresses(), _Faults()
        self.recorded: list[Dns] = []
        self.named: list[str] = []
        self.broken: list[Exception] = []
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.resolver = DnsServer(
            self.names,
            plan_fault=self.faults.plan,
            record=self.recorded.append,
            named=self.named.append,
            broke=self.broken.append,
            **options,
        )

    async def send(self, *messages: bytes) -> list[bytes]:
        """Send questions from one socket; return as many answers, in their order."""
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            for message in messages:
                await loop.sock_sendto(client, message, self.udp.getsockname())
            async with asyncio.timeout(5):
                return [await loop.sock_recv(client, 65535) for _ in messages]

    async def ask(self, name: str, kind: int = types.A) -> dns.DNSMessage:
        [message] = await self.send(query(name.encode(), kind))
        return dns.DNSMessage.unpack(message)


@asynccontextmanager
async def _asking(**options: Any) -> AsyncIterator[_Asker]:
    asker = _Asker(**options)
    asker.resolver.open([asker.udp], [asker.tcp])
    try:
        yield asker
    finally:
        await asker.resolver.close()
        asker.udp.close()
        asker.tcp.close()
        assert asker.broken == []


def _exists(monkeypatch: pytest.MonkeyPatch, **addresses: tuple[str, ...]) -> None:
    """Let the machine's resolver know these hosts of .test, and no others."""

    def resolve(host: str, port: object, **how: object) -> list[tuple[object, ...]]:
        result = addresses.get(host.removesuffix(".test"))
        if result is None:
            raise socket.gaierror(socket.EAI_NONAME, "no")
        return [(None, None, 0, "", (address, 0)) for address in result]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr("warex.proxy.dns.system_resolver._is_reachable", lambda address: True)


async def test_a_name_has_an_address_in_each_family_that_it_has_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _exists(monkeypatch, four=("93.184.216.34",), both=("93.184.216.34", "2001:db8::1"))
    async with _asking() as asker:
        [four] = (await asker.ask("four.test")).answers
        assert is_virtual(str(four.ipv4_address))
        assert asker.names.name_of(str(four.ipv4_address)) == "four.test"
        assert (await asker.ask("four.test", types.AAAA)).answers == []
        [six] = (await asker.ask("both.test", types.AAAA)).answers
        assert asker.names.name_of(str(six.ipv6_address)) == "both.test"
        kinds = [it.type for it in (await asker.ask("both.test", types.ANY)).answers]
        assert kinds == [types.A, types.AAAA]
        # Before the answer left, the blocklist knows the name.
        assert asker.named[0] == "four.test"


async def test_what_does_not_exist_outside_does_not_exist_inside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _exists(monkeypatch)
    async with _asking() as asker:
        for kind in (types.A, types.AAAA, types.HTTPS):
            assert (await asker.ask("none.test", kind)).response_code == response_codes.NXDOMAIN
        assert list(asker.names) == []


async def test_service_records_have_no_address_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    _exists(monkeypatch, shop=("93.184.216.34",))
    async with _asking() as asker:
        for kind in (types.HTTPS, types.SVCB):
            answer = await asker.ask("shop.test", kind)
            assert (answer.response_code, answer.answers) == (response_codes.NOERROR, [])


async def test_a_name_of_the_own_machine_stays_with_the_asker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _exists(monkeypatch, here=("127.0.0.1",))
    async with _asking() as asker:
        for name in ("here.test", "localhost", "Some.LocalHost"):
            [answers] = (await asker.ask(name)).answers
            assert str(answers.ipv4_address) == "127.0.0.1"


async def test_reverse_lookups_give_the_name() -> None:
    async with _asking(asks=False) as asker:
        [answers] = (await asker.ask("shop.test")).answers
        first, *rest = str(answers.ipv4_address).split(".")[::-1]
        reverse = ".".join((first, *rest)) + ".in-addr.arpa"
        [pointer] = (await asker.ask(reverse, types.PTR)).answers
        assert pointer.domain_name == "shop.test"
        unknown = await asker.ask("9.9.18.198.in-addr.arpa", types.PTR)
        assert unknown.response_code == response_codes.NXDOMAIN


async def test_names_that_warex_serves_always_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _exists(monkeypatch)
    async with _asking(known=("Mapped.test",)) as asker:
        assert len((await asker.ask("mapped.test")).answers) == 1
        text = await asker.ask("mapped.test", 16)
        assert (text.response_code, text.answers) == (response_codes.NOERROR, [])


async def test_failing_names_fail_as_they_should_and_others_do_not() -> None:
    async with _asking(asks=False) as asker:
        for code in (response_codes.NXDOMAIN, response_codes.SERVFAIL):
            asker.faults.codes["bad.test"] = code
            assert (await asker.ask("BAD.test")).response_code == code
        assert asker.faults.sent == ["bad.test", "bad.test"]
        asker.faults.codes["mute.test"] = None
        # The second answer is the first that comes: the silent name has none.
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            for name in (b"mute.test", b"good.test"):
                await loop.sock_sendto(client, query(name), asker.udp.getsockname())
            data = dns.DNSMessage.unpack(await loop.sock_recv(client, 65535))
            assert data.questions[0].name == "good.test"
        assert "mute.test" not in asker.faults.sent


async def test_the_same_over_tcp_one_question_after_the_other() -> None:
    async with _asking(asks=False) as asker:
        reader, writer = await asyncio.open_connection(*asker.tcp.getsockname())
        for name in (b"one.test", b"two.test"):
            message = query(name, extension=opt())
            writer.write(len(message).to_bytes(2))
            await writer.drain()
            writer.write(message)
            data = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
            assert dns.DNSMessage.unpack(data).questions[0].name == name.decode()
        asker.faults.codes["mute.test"] = None
        message = query(b"mute.test")
        writer.write(len(message).to_bytes(2) + message)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()


async def test_a_slow_name_sends_its_asker_to_tcp_where_it_may_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = threading.Event()

    def resolve(host: str, port: object, **how: object) -> list[tuple[object, ...]]:
        known.wait(5)
        return [(None, None, 0, "", ("203.0.113.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    async with _asking() as asker:
        short = await asker.ask("slow.test")
        assert short.truncation
        assert short.answers == []

        reader, writer = await asyncio.open_connection(*asker.tcp.getsockname())
        message = query(b"slow.test")
        writer.write(len(message).to_bytes(2) + message)
        known.set()
        data = await reader.readexactly(int.from_bytes(await reader.readexactly(2)))
        writer.close()

    full = dns.DNSMessage.unpack(data)
    assert not full.truncation
    assert [str(it.ipv4_address) for it in full.answers] == [asker.names.addresses("slow.test").v4]


async def test_dns_silence_over_tcp_lasts_as_long_as_a_resolver_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("warex.proxy.dns.server.GIVES_UP_AFTER", 0.3)
    async with _asking(asks=False) as asker:
        asker.faults.codes["mute.test"] = None
        reader, writer = await asyncio.open_connection(*asker.tcp.getsockname())
        message = query(b"mute.test")
        began = asyncio.get_running_loop().time()
        # A resolver asks for both families at once, and may wait for as long as it takes.
        for _ in range(2):
            writer.write(len(message).to_bytes(2) + message)
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        assert asyncio.get_running_loop().time() - began >= 0.3
        writer.close()


async def test_nonsense_is_not_answered_and_harms_nobody() -> None:
    async with _asking(asks=False) as asker:
        answered = query(b"shop.test", flags=0x8180)
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            for message in (b"", b"\xff" * 40, query()[:17], answered, query(b"good.test")):
                await loop.sock_sendto(client, message, asker.udp.getsockname())
            data = dns.DNSMessage.unpack(await loop.sock_recv(client, 65535))
        assert data.questions[0].name == "good.test"


async def test_each_answer_is_recorded_once() -> None:
    async with _asking(asks=False) as asker:
        for _ in range(3):
            await asker.send(*(query(b"shop.test", kind) for kind in (types.A, types.AAAA)))
        [address] = (await asker.ask("shop.test")).answers
        kinds = {(it.name, it.kind): it.answer for it in asker.recorded}
        assert len(asker.recorded) == 2
        assert kinds["shop.test", "A"] == str(address.ipv4_address)
        assert kinds["shop.test", "AAAA"] == "none"


async def test_two_hundred_concurrent_lookups_get_their_own_answers() -> None:
    async with _asking(asks=False) as asker:
        names = [f"host-{number}.test".encode() for number in range(200)]
        messages = [query(name, number=number) for number, name in enumerate(names)]
        for message in await asker.send(*messages):
            text = dns.DNSMessage.unpack(message)
            assert text.questions[0].name == names[text.id].decode()
            name = asker.names.name_of(str(text.answers[0].ipv4_address))
            assert name == text.questions[0].name
