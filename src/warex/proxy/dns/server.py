"""The DNS server of a namespace: each existing name resolves to a virtual address of its own.

The machine's resolver decides whether a name exists and for which address families, so that an
unknown name stays unknown. Behind an upstream proxy, which resolves names itself, every name
exists.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Container, Iterable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from warex.clock import Clock
from warex.effects import RESOLVER_GIVES_UP_AFTER as GIVES_UP_AFTER
from warex.errors import TrialVoid
from warex.linux.sockets import TIMESTAMP_SPACE
from warex.proxy.dns import messages, numbers
from warex.proxy.dns.messages import Question
from warex.proxy.dns.system_resolver import Resolution, SystemResolver, forward
from warex.proxy.dns.virtual_addresses import VirtualAddresses, is_virtual
from warex.proxy.transparent.lateness import require_lookup_in_time, require_patience
from warex.text.latest import Latest
from warex.traces import Dns

_LOCALHOST: Final = Resolution(loopback=("127.0.0.1", "::1"))
_MAX_QUERIES: Final = 512
"""Concurrent queries at most; more are dropped."""
_READ_SIZE: Final = 4096
_UDP_TIMEOUT: Final = 0.7
"""Seconds after which a client is sent to TCP, where it waits longer: over UDP the namespace's
resolvers try for two seconds (``sandbox/namespace/name_resolution.py``)."""
_IDLE_TIMEOUT: Final = 30.0
"""Seconds after which an idle TCP connection is closed."""
_REMEMBERED: Final = 10_000
"""Answers that are not recorded again."""


class LookupFault(NamedTuple):
    """A lookup that is to fail."""

    code: int | None
    """The response code; None for no response."""
    on_sent: Callable[[], None]
    """Called when the response was sent."""


class _Answer(NamedTuple):
    """A response; no response is sent if ``data`` is None."""

    data: bytes | None
    on_sent: Callable[[], None] = lambda: None


class DnsServer:
    """Answers questions over UDP and TCP."""

    def __init__(
        self,
        names: VirtualAddresses,
        *,
        plan_fault: Callable[[str], LookupFault | None],
        record: Callable[[Dns], None],
        named: Callable[[str], None],
        broke: Callable[[Exception], None],
        known: Iterable[str] = (),
        own: Container[str] = (),
        asks: bool = True,
    ) -> None:
        """Create a server that is not open yet.

        ``plan_fault`` counts a question for a name and returns its failure, if any; ``named`` is
        called with a name before its address is sent. ``known`` and ``own``: names that
        always exist. ``asks``: whether the machine's resolver is asked for the others.
        """
        self._names, self._plan_fault = names, plan_fault
        self._record, self._named, self._broke = record, named, broke
        self._known = {name.lower() for name in known}
        self._own = own
        self._lookup = SystemResolver() if asks else None
        self._recorded = Latest[tuple[str, str, str], None](_REMEMBERED)
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: list[socket.socket] = []
        self._loop = asyncio.get_running_loop()
        self._clock = Clock()

    def open(self, udp: Iterable[socket.socket], tcp: Iterable[socket.socket]) -> None:
        """Start to answer, including queries that are already queued."""
        for sockets, read in ((udp, self._receive), (tcp, self._accept)):
            for sock in sockets:
                sock.setblocking(False)
                self._loop.add_reader(sock, read, sock)
                self._sockets.append(sock)

    async def close(self) -> None:
        """Stop answering."""
        for sock in self._sockets:
            self._loop.remove_reader(sock)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._lookup is not None:
            self._lookup.close()

    def _start(self, work: Awaitable[None]) -> None:
        async def answer() -> None:
            try:
                await work
            except OSError:
                pass  # The client has left.
            except Exception as error:  # noqa: BLE001 - fail closed: a trial without names is void
                self._broke(error)

        task = self._loop.create_task(answer())
        if not task.done():
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    # ---- UDP

    def _receive(self, receiver: socket.socket) -> None:
        for _ in range(_MAX_QUERIES):
            try:
                message, beside, _, asker = receiver.recvmsg(65535, TIMESTAMP_SPACE)
            except OSError:
                return
            try:
                require_lookup_in_time(beside, self._clock.wall())
            except TrialVoid as late:
                self._broke(late)
            if len(self._tasks) < _MAX_QUERIES:
                self._start(self._by_udp(receiver, message, asker))

    async def _by_udp(self, receiver: socket.socket, message: bytes, asker: Any) -> None:
        answering = asyncio.ensure_future(self._answer(message, tcp=False))
        done, _ = await asyncio.wait({answering}, timeout=_UDP_TIMEOUT)
        if not done and (question := messages.parse_question(message)) is not None:
            # Over UDP the client would give up long before the machine's resolver does.
            receiver.sendto(messages.truncated_response(question), asker)
            await answering
            return
        answer = await answering
        if answer.data is not None:
            receiver.sendto(answer.data, asker)
            answer.on_sent()

    # ---- TCP

    def _accept(self, listener: socket.socket) -> None:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        client.setblocking(False)
        try:
            require_patience(client, "the answer to a lookup")
        except TrialVoid as late:
            self._broke(late)
        self._start(self._by_tcp(client))

    async def _by_tcp(self, client: socket.socket) -> None:
        with client:
            while size := await self._read_exactly(client, 2):
                message = await self._read_exactly(client, int.from_bytes(size))
                answer = await self._answer(message, tcp=True)
                if answer.data is None:
                    await self._stay_silent(client)
                    return
                framed = len(answer.data).to_bytes(2) + answer.data
                await self._loop.sock_sendall(client, framed)
                answer.on_sent()

    async def _stay_silent(self, client: socket.socket) -> None:
        """Answer no more, until the client gives up; over TCP some never do by themselves."""
        with suppress(TimeoutError):
            async with asyncio.timeout(GIVES_UP_AFTER):
                while await self._loop.sock_recv(client, _READ_SIZE):
                    pass

    async def _read_exactly(self, client: socket.socket, size: int) -> bytes:
        """Return that many bytes; none if the client has ended or sends nothing."""
        data = b""
        try:
            async with asyncio.timeout(_IDLE_TIMEOUT):
                while len(data) < size:
                    more = await self._loop.sock_recv(client, size - len(data))
                    if not more:
                        return b""
                    data += more
        except TimeoutError:
            return b""
        return data

    # ---- what is answered

    async def _answer(self, message: bytes, *, tcp: bool) -> _Answer:
        question = messages.parse_question(message)
        if question is None:
            return _Answer(None)
        if not question.is_query:
            return _Answer(messages.build_response(question, numbers.NOTIMP))
        if not question.is_internet_class:
            return _Answer(messages.build_response(question, numbers.REFUSED))
        if (whose := _address_asked_for(question)) is not None and is_virtual(whose):
            return _Answer(self._reverse(question, whose))
        fault = self._plan_fault(question.name)
        if fault is not None:
            if fault.code is not None:
                return self._respond(question, fault.code)._replace(on_sent=fault.on_sent)
            self._record_answer(question, "no answer")
            return _Answer(None)
        known = await self._find(question.name)
        if known.rcode != numbers.NOERROR and question.qtype in _ADDRESSES:
            return self._respond(question, known.rcode)
        match question.qtype:
            case numbers.A | numbers.AAAA | numbers.ANY:
                return self._addresses(question, known)
            case numbers.HTTPS | numbers.SVCB:
                # These records have addresses, QUIC support and ECH keys, which hide the host name.
                return self._respond(question, numbers.NOERROR)
            case _ if self._is_known(question.name):
                return self._respond(question, numbers.NOERROR)
            case _:
                return await self._forwarded(question, message, tcp=tcp)

    async def _find(self, name: str) -> Resolution:
        if name == "localhost" or name.endswith(".localhost"):
            return _LOCALHOST
        if self._is_known(name) or self._lookup is None:
            return Resolution(has_ipv4=bool(name))
        return await self._lookup.resolve(name)

    def _is_known(self, name: str) -> bool:
        return name in self._known or name in self._own

    def _addresses(self, question: Question, known: Resolution) -> _Answer:
        wanted = {numbers.A: (4,), numbers.AAAA: (6,), numbers.ANY: (4, 6)}[question.qtype]
        addresses = known.loopback
        if not addresses and (known.has_ipv4 or known.has_ipv6):
            own = self._names.addresses(question.name)
            both = ((own.v4, known.has_ipv4), (own.v6, known.has_ipv6))
            addresses = tuple(address for address, exists in both if exists)
            self._named(question.name)
        of_version = [it for it in map(ipaddress.ip_address, addresses) if it.version in wanted]
        records = [(numbers.A if it.version == 4 else numbers.AAAA, it.packed) for it in of_version]
        self._record_answer(question, ", ".join(map(str, of_version)) or "none")
        return _Answer(messages.build_response(question, records=records))

    def _reverse(self, question: Question, address: str) -> bytes:
        name = self._names.name_of(address)
        self._record_answer(question, name or "NXDOMAIN")
        if name is None:
            return messages.build_response(question, numbers.NXDOMAIN)
        record = (numbers.PTR, messages.encode_name(name))
        return messages.build_response(question, records=[record])

    async def _forwarded(self, question: Question, message: bytes, *, tcp: bool) -> _Answer:
        data = await forward(message, tcp=tcp) if self._lookup is not None else None
        if data is None:
            return self._respond(question, numbers.SERVFAIL)
        self._record_answer(question, numbers.code_name(messages.response_code(data)))
        return _Answer(data)

    def _respond(self, question: Question, code: int) -> _Answer:
        answer = "none" if code == numbers.NOERROR else numbers.code_name(code)
        self._record_answer(question, answer)
        return _Answer(messages.build_response(question, code))

    def _record_answer(self, question: Question, answer: str) -> None:
        """Record a response, once for each name and type: clients repeat their questions."""
        key = (question.name, question.type_name, answer)
        if key not in self._recorded:
            self._recorded[key] = None
            self._record(Dns(name=key[0], kind=key[1], answer=key[2]))


_ADDRESSES: Final = frozenset((numbers.A, numbers.AAAA, numbers.ANY, numbers.HTTPS, numbers.SVCB))


def _address_asked_for(question: Question) -> str | None:
    """Return the address of a reverse lookup (RFC 1035 §3.5, RFC 3596 §2.5), if it is one."""
    if question.qtype not in (numbers.PTR, numbers.ANY):
        return None
    labels = question.name.split(".")
    try:
        if labels[-2:] == ["in-addr", "arpa"] and len(labels) == 6:
            return str(ipaddress.IPv4Address(".".join(reversed(labels[:4]))))
        if labels[-2:] == ["ip6", "arpa"] and len(labels) == 34:
            return str(ipaddress.IPv6Address(int("".join(reversed(labels[:32])), 16)))
    except ValueError:
        pass
    return None
