"""Runs a case: a client and a site that send its bytes, whatever they receive."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import hpack
from hyperframe.exceptions import HyperframeError
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, HeadersFrame, RstStreamFrame

from bench.fuzz.cases import AUTHORITY, PREFACE, Case, Channel, rng_for
from bench.fuzz.mutate import mutate
from bench.workspace import HOST
from warex.proxy.process.client import Proxy

IDLE_SECONDS = 0.2
"""Seconds without data after which an answer counts as complete."""
_SECONDS = 5.0
_STATUS = re.compile(rb"(?:\A|\n)HTTP/1\.[01] (\d\d\d)(?!\d)")


@dataclass(slots=True)
class Received:
    """What the client received in one case."""

    case: Case
    data: bytes = b""
    """All bytes, with TLS and HPACK decoded."""
    statuses: list[int] = field(default_factory=list)
    """The statuses of final answers and 101, in order."""
    unreadable: list[bytes] = field(default_factory=list)
    """What stands for a status in an answer over HTTP/2, but is none."""


class Site:
    """Answers every connection with the bytes of the current case."""

    def __init__(self, seed: int) -> None:
        self.case: Case | None = None
        self.ports: dict[str, int] = {}
        self._seed = seed
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read a request, send the answer, wait until the client closes."""
        case = self.case
        with self._serving(writer):
            if case is not None:
                await _read_request(reader, writer)
                writer.write(case.answer)
                await writer.drain()
            if case is None or not case.closes:
                await _read_to_end(reader)

    async def send_garbled_tls(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer a ClientHello with a mutated flight and wait until the client closes."""
        case = self.case
        with self._serving(writer):
            hello = await reader.read(65536)
            if case is not None:
                writer.write(
                    mutate(rng_for(self._seed, case.number), _server_flight(hello), most=2)
                )
                await writer.drain()
            await _read_to_end(reader)

    @contextmanager
    def _serving(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is serve_site in a task")
        self._open[task] = writer
        try:
            with suppress(OSError):
                yield
        finally:
            del self._open[task]
            writer.close()

    async def abort(self) -> None:
        """Abort every connection."""
        for writer in self._open.values():
            writer.transport.abort()
        # ``Server.wait_closed`` would wait forever for a connection whose handshake never finished.
        if self._open:
            await asyncio.wait(list(self._open), timeout=_SECONDS)


async def _read_to_end(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


def _server_flight(hello: bytes) -> bytes:
    """Return a TLS server's first flight for a ClientHello."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("aNULL:@SECLEVEL=0")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(incoming, outgoing, server_side=True)
    incoming.write(hello)
    with suppress(ssl.SSLError):
        server.do_handshake()
    return outgoing.read()


def client_hello() -> bytes:
    """Return a ClientHello for the site."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    client = context.wrap_bio(incoming, outgoing, server_hostname=HOST)
    with suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    tls = writer.get_extra_info("ssl_object")
    data = b""
    while not _has_request(
        data, "h2" if tls and tls.selected_alpn_protocol() == "h2" else "http/1.1"
    ):
        if not (more := await reader.read(65536)):
            return
        data += more


def _has_request(data: bytes, protocol: Channel) -> bool:
    if protocol == "http/1.1":
        return b"\r\n\r\n" in data
    rest = data.removeprefix(PREFACE)
    while len(rest) >= 9:
        if rest[3] == HeadersFrame.type:
            return True
        rest = rest[9 + int.from_bytes(rest[:3]) :]
    return False


@asynccontextmanager
async def serve_site(seed: int, certificate: str, key: str) -> AsyncIterator[Site]:
    """Serve on free ports of loopback: TLS with each protocol, no TLS, and garbled TLS."""
    site = Site(seed)
    contexts: dict[str, ssl.SSLContext | None] = {"plain": None, "garbled": None}
    for protocol in ("http/1.1", "h2"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols([protocol])
        contexts[protocol] = context
    servers = []
    for name, tls in contexts.items():
        accept = site.send_garbled_tls if name == "garbled" else site.accept
        server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
        site.ports[name] = server.sockets[0].getsockname()[1]
        servers.append(server)
    try:
        yield site
    finally:
        for server in servers:
            server.close()
        await site.abort()


# ---- the client


async def run_case(
    case: Case, site: Site, proxy: Proxy, ca: Path, seed: int, idle_seconds: float = IDLE_SECONDS
) -> Received:
    """Run a case; return what its client received until no data came for ``idle_seconds``."""
    site.case = case
    received = Received(case)
    with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
        async with asyncio.timeout(max(_SECONDS, idle_seconds)):
            try:
                await _exchange(received, site, proxy, ca, seed, idle_seconds)
            except Exception as error:
                error.add_note(f"It was in case {case.number}, {case.family}, seed {seed}.")
                raise
    site.case = None
    return received


async def _exchange(
    received: Received, site: Site, proxy: Proxy, ca: Path, seed: int, idle_seconds: float
) -> None:
    case = received.case
    port = site.ports[_port_name(case)]
    opened = proxy.control_port if case.channel == "control" else proxy.port
    reader, writer = await asyncio.open_connection("127.0.0.1", opened)
    try:
        if case.channel not in ("proxy", "control"):
            writer.write(f"CONNECT {HOST}:{port} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in head:
                received.data += head
                return
        if case.channel in ("http/1.1", "h2"):
            context = ssl.create_default_context(cafile=str(ca))
            context.set_alpn_protocols([case.channel])
            await writer.start_tls(context, server_hostname=HOST)
        sends = case.sends
        if case.channel == "tunnel":
            sends = mutate(rng_for(seed, case.number), client_hello())
        writer.write(sends.replace(AUTHORITY, f"{HOST}:{port}".encode()))
        raw = await _read_until_idle(reader, case, idle_seconds)
        if case.then and raw:
            writer.write(case.then)
            raw += await _read_until_idle(reader, case, idle_seconds)
        parse(received, raw)
    finally:
        writer.transport.abort()
        with suppress(OSError, TimeoutError):
            # The end of an aborted TLS connection is not always reported.
            await asyncio.wait_for(writer.wait_closed(), IDLE_SECONDS)


def _port_name(case: Case) -> str:
    if case.family == "tls-site":
        return "garbled"
    if case.family == "forwarded":
        return "plain"
    # Client and site may use different protocols.
    return "h2" if case.channel == "h2" and not case.answer.startswith(b"HTTP/1") else "http/1.1"


async def _read_until_idle(reader: asyncio.StreamReader, case: Case, idle_seconds: float) -> bytes:
    data = b""
    with suppress(TimeoutError, ConnectionError, ssl.SSLError):
        while more := await asyncio.wait_for(reader.read(65536), idle_seconds):
            data += more
            if _is_http2_over(data) if case.channel == "h2" else _is_complete(data):
                break
    return data


def _is_http2_over(data: bytes) -> bool:
    """Whether the first stream has ended, or the peer closes the connection."""
    while len(data) >= 9:
        kind, flags, stream = data[3], data[4], int.from_bytes(data[5:9])
        if kind == GoAwayFrame.type or (
            stream == 1
            and (
                kind == RstStreamFrame.type
                or (kind in (DataFrame.type, HeadersFrame.type) and flags & 1)
            )
        ):
            return True
        data = data[9 + int.from_bytes(data[:3]) :]
    return False


def _is_complete(data: bytes) -> bool:
    """Whether this is a complete answer with a content length."""
    head, end, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d{1,6})\r\n", head + b"\r\n")
    return bool(end and length and len(body) >= int(length[1]))


def parse(received: Received, raw: bytes) -> None:
    """Note what an answer's bytes say; any bytes may come."""
    if received.case.channel != "h2":
        received.data += raw
        statuses = [int(status) for status in _STATUS.findall(raw)]
        # The site's bytes may contain what looks like a second answer.
        final = [status for status in statuses if status >= 200 or status == 101]
        received.statuses += final if received.case.valid_answer else final[:1]
        return
    decoder = hpack.Decoder()
    while len(raw) >= 9:
        try:
            frame, length = Frame.parse_frame_header(memoryview(raw[:9]))
            frame.parse_body(memoryview(raw[9 : 9 + length]))
        except HyperframeError:
            return
        raw = raw[9 + length :]
        match frame:
            case HeadersFrame():
                with suppress(hpack.HPACKError):
                    _parse_headers(received, decoder, frame.data)
            case DataFrame():
                received.data += frame.data
            case GoAwayFrame():
                received.data += frame.additional_data
            case _:
                pass


def _parse_headers(received: Received, decoder: hpack.Decoder, block: bytes) -> None:
    for name, value in decoder.decode(block, raw=True):
        received.data += bytes(name) + b": " + bytes(value) + b"\r\n"
        if name != b":status":
            continue
        if not re.fullmatch(rb"[1-9][0-9][0-9]", value):
            received.unreadable.append(bytes(value))
        elif (status := int(value)) >= 200:
            received.statuses.append(status)
