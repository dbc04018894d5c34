"""Carries a case out: a client and a site that send its bytes, whatever the other says."""

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

from bench.fuzz.cases import PLACE, PREFACE, Case, Door, drawn_for
from bench.fuzz.mutate import mutated
from bench.workspace import HOST
from warex.proxy.process.client import Proxy

QUIET = 0.2
"""Seconds after which nothing more is expected of an answer."""
_SECONDS = 5.0
_STATUS = re.compile(rb"(?:\A|\n)HTTP/1\.[01] (\d\d\d)(?!\d)")


@dataclass(slots=True)
class Heard:
    """What a client was told in one case."""

    case: Case
    data: bytes = b""
    """All that came back, out of TLS and of HPACK."""
    statuses: list[int] = field(default_factory=list)
    """Of final answers and of 101, in order."""


class Site:
    """Answers every connection with the bytes of the case that is being tried."""

    def __init__(self, seed: int) -> None:
        self.case: Case | None = None
        self.ports: dict[str, int] = {}
        self._seed = seed
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Wait for a request, send the answer, wait for the client's end."""
        case = self.case
        with self._serving(writer):
            if case is not None:
                await _until_asked(reader, writer)
                writer.write(case.answer)
                await writer.drain()
            if case is None or not case.closes:
                await _until_end(reader)

    async def garble(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin TLS with small mistakes in the first flight, and wait for the client's end."""
        case = self.case
        with self._serving(writer):
            hello = await reader.read(65536)
            if case is not None:
                writer.write(mutated(drawn_for(self._seed, case.number), _flight(hello), most=2))
                await writer.drain()
            await _until_end(reader)

    @contextmanager
    def _serving(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served in a task")
        self._open[task] = writer
        try:
            with suppress(OSError):
                yield
        finally:
            del self._open[task]
            writer.close()

    async def hang_up(self) -> None:
        """End every connection at once."""
        for writer in self._open.values():
            writer.transport.abort()
        # ``Server.wait_closed`` would wait for ever for one whose TLS has never come about.
        if self._open:
            await asyncio.wait(list(self._open), timeout=_SECONDS)


async def _until_end(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


def _flight(hello: bytes) -> bytes:
    """Return a server's answer to a ClientHello."""
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
    """Return the beginning of a TLS connection to the site."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    client = context.wrap_bio(incoming, outgoing, server_hostname=HOST)
    with suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


async def _until_asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    tls = writer.get_extra_info("ssl_object")
    held = b""
    while not _asked(held, "h2" if tls and tls.selected_alpn_protocol() == "h2" else "http/1.1"):
        if not (more := await reader.read(65536)):
            return
        held += more


def _asked(held: bytes, protocol: Door) -> bool:
    if protocol == "http/1.1":
        return b"\r\n\r\n" in held
    rest = held.removeprefix(PREFACE)
    while len(rest) >= 9:
        if rest[3] == HeadersFrame.type:
            return True
        rest = rest[9 + int.from_bytes(rest[:3]) :]
    return False


@asynccontextmanager
async def served(seed: int, certificate: str, key: str) -> AsyncIterator[Site]:
    """Serve on free ports of loopback: TLS of either protocol, none, and garbled TLS."""
    site = Site(seed)
    contexts: dict[str, ssl.SSLContext | None] = {"plain": None, "garbled": None}
    for protocol in ("http/1.1", "h2"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols([protocol])
        contexts[protocol] = context
    servers = []
    for name, tls in contexts.items():
        accept = site.garble if name == "garbled" else site.accept
        server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
        site.ports[name] = server.sockets[0].getsockname()[1]
        servers.append(server)
    try:
        yield site
    finally:
        for server in servers:
            server.close()
        await site.hang_up()


# ---- the client


async def tried(
    case: Case, site: Site, proxy: Proxy, ca: Path, seed: int, quiet: float = QUIET
) -> Heard:
    """Carry a case out; return what its client heard until it was quiet for so many seconds."""
    site.case = case
    heard = Heard(case)
    with suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
        async with asyncio.timeout(max(_SECONDS, quiet)):
            await _converse(heard, site, proxy, ca, seed, quiet)
    site.case = None
    return heard


async def _converse(
    heard: Heard, site: Site, proxy: Proxy, ca: Path, seed: int, quiet: float
) -> None:
    case = heard.case
    port = site.ports[_port_name(case)]
    opened = proxy.control_port if case.door == "control" else proxy.port
    reader, writer = await asyncio.open_connection("127.0.0.1", opened)
    try:
        if case.door not in ("proxy", "control"):
            writer.write(f"CONNECT {HOST}:{port} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
            said = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " not in said:
                heard.data += said
                return
        if case.door in ("http/1.1", "h2"):
            context = ssl.create_default_context(cafile=str(ca))
            context.set_alpn_protocols([case.door])
            await writer.start_tls(context, server_hostname=HOST)
        sends = case.sends
        if case.door == "tunnel":
            sends = mutated(drawn_for(seed, case.number), client_hello())
        writer.write(sends.replace(PLACE, f"{HOST}:{port}".encode()))
        raw = await _until_quiet(reader, case, quiet)
        if case.then and raw:
            writer.write(case.then)
            raw += await _until_quiet(reader, case, quiet)
        _hear(heard, raw)
    finally:
        writer.transport.abort()
        with suppress(OSError, TimeoutError):
            # Of a TLS connection that was aborted the end is not always told.
            await asyncio.wait_for(writer.wait_closed(), QUIET)


def _port_name(case: Case) -> str:
    if case.family == "tls-site":
        return "garbled"
    if case.family == "forwarded":
        return "plain"
    # A client of one protocol may meet a site of the other.
    return "h2" if case.door == "h2" and not case.answer.startswith(b"HTTP/1") else "http/1.1"


async def _until_quiet(reader: asyncio.StreamReader, case: Case, quiet: float) -> bytes:
    held = b""
    with suppress(TimeoutError, ConnectionError, ssl.SSLError):
        while more := await asyncio.wait_for(reader.read(65536), quiet):
            held += more
            if _ends_http2(held) if case.door == "h2" else _whole(held):
                break
    return held


def _ends_http2(held: bytes) -> bool:
    """Whether the first stream has come to its end, or the connection is to."""
    while len(held) >= 9:
        kind, flags, stream = held[3], held[4], int.from_bytes(held[5:9])
        if kind == GoAwayFrame.type or (
            stream == 1
            and (
                kind == RstStreamFrame.type
                or (kind in (DataFrame.type, HeadersFrame.type) and flags & 1)
            )
        ):
            return True
        held = held[9 + int.from_bytes(held[:3]) :]
    return False


def _whole(held: bytes) -> bool:
    """Whether an answer with a length has come, and nothing else."""
    head, end, body = held.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *(\d{1,6})\r\n", head + b"\r\n")
    return bool(end and length and len(body) >= int(length[1]))


def _hear(heard: Heard, raw: bytes) -> None:
    if heard.case.door != "h2":
        heard.data += raw
        found = [int(status) for status in _STATUS.findall(raw)]
        # A site's own bytes may hold what looks like a second answer.
        final = [status for status in found if status >= 200 or status == 101]
        heard.statuses += final if heard.case.honest else final[:1]
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
                    _hear_headers(heard, decoder, frame.data)
            case DataFrame():
                heard.data += frame.data
            case GoAwayFrame():
                heard.data += frame.additional_data
            case _:
                pass


def _hear_headers(heard: Heard, decoder: hpack.Decoder, block: bytes) -> None:
    for name, value in decoder.decode(block, raw=True):
        heard.data += bytes(name) + b": " + bytes(value) + b"\r\n"
        if name == b":status" and (status := int(value)) >= 200:
            heard.statuses.append(status)
