"""Peers that send or hold without end: memory is bounded, the trial stands, others go on."""

import socket
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from bench.fuzz.mutants_websocket import ACCEPT, KEY

from tests.proxy.support.client import H2Client, secure
from tests.proxy.support.endless import EndlessSite, drain, flood, watching
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin
from warex.faults.base import Fault
from warex.faults.lies.json_corruption import JsonCorruption
from warex.faults.popups.popup import Popup
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import HarnessBroke

pytestmark = [pytest.mark.wire, pytest.mark.slow]

MEGABYTES = 1 << 20
MANY, FEW = 100 * MEGABYTES, 4 * MEGABYTES
"""Bytes that are sent: in large pieces, and in pieces that each take time."""
MOST = 48 * MEGABYTES
"""Bytes by which a lane may grow: it reads 16 MiB of a model's answer, and decodes as many."""
MOST_OF_A_MESSAGE = 128 * MEGABYTES
"""The same where it reads a request or a message of MCP whole, which it does up to 64 MiB."""

FILLER = b"x" * 65536
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
CALL = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
TOOL_CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}'
COMPLETIONS, MCP, PAGE = "/v1/chat/completions", "/mcp", "/x"
CHANGES = {"page": Popup(), "json": JsonCorruption(at="/a")}


def of(kind: bytes, *more: bytes) -> bytes:
    """The head of an answer that ends with its connection."""
    return b"".join([OK, b"Content-Type: ", kind, *(b"\r\n" + it for it in more), b"\r\n\r\n"])


def zeros() -> tuple[bytes, bytes]:
    """The beginning of an endless gzip stream, and a piece that holds 16 MiB in 16 kB."""
    coder = zlib.compressobj(9, wbits=31)
    begun = coder.compress(b"\0") + coder.flush(zlib.Z_FULL_FLUSH)
    return begun, coder.compress(bytes(16 * MEGABYTES)) + coder.flush(zlib.Z_FULL_FLUSH)


BEGUN, BOMB = zeros()
GZIP = b"Content-Encoding: gzip"


@dataclass(frozen=True)
class Endless:
    """An answer without end."""

    start: bytes
    piece: bytes
    path: str = PAGE
    changed_as: str = ""
    size: int = MANY

    @property
    def fault(self) -> Fault | None:
        return CHANGES.get(self.changed_as)


HTML, JSON, SSE = b"text/html", b"application/json", b"text/event-stream"
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
NOTICE = b'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n'
ANSWERS = {
    "a page": Endless(of(HTML), b"<p>a</p>\n" * 8000, changed_as="page"),
    "a page that is one tag": Endless(of(HTML), b"<a " + FILLER, changed_as="page"),
    "the head of a page": Endless(of(HTML), b"<meta name=a>" * 5000, changed_as="page"),
    "a page of tiny chunks": Endless(
        OK + b"Content-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\na\r\n" * 10_000,
        changed_as="page",
        size=FEW,
    ),
    "json": Endless(of(JSON) + b'{"a":"', FILLER, changed_as="json"),
    "a line of json": Endless(of(b"application/x-ndjson") + b'{"a":"', FILLER, changed_as="json"),
    "events": Endless(of(SSE), b'data: {"a":1}\n\n' * 4000, changed_as="json"),
    "one event": Endless(of(SSE), FILLER),
    "a model's events": Endless(of(SSE), EVENT * 1000, COMPLETIONS),
    "a model's event": Endless(of(SSE) + b"data: ", FILLER, COMPLETIONS),
    "a model's answer": Endless(
        of(JSON) + b'{"choices":[{"message":{"content":"', FILLER, COMPLETIONS
    ),
    "a tool's event": Endless(of(SSE) + b'data: {"id":1,"result":"', FILLER, MCP),
    "a tool's events": Endless(of(SSE), NOTICE * 1000, MCP, size=FEW),
    "a bomb as a page": Endless(of(HTML, GZIP) + BEGUN, BOMB, changed_as="page"),
    "a bomb as json": Endless(of(JSON, GZIP) + BEGUN, BOMB, changed_as="json"),
    "a bomb as a model's answer": Endless(of(JSON, GZIP) + BEGUN, BOMB, COMPLETIONS),
    "a bomb as a model's events": Endless(of(SSE, GZIP) + BEGUN, BOMB, COMPLETIONS),
    "a bomb as a tool's events": Endless(of(SSE, GZIP) + BEGUN, BOMB, MCP),
    "a chunk's extension": Endless(CHUNKED + b"1;", FILLER),
    "a chunk's length": Endless(CHUNKED, b"0" * 65536),
    "trailers": Endless(CHUNKED + b"0\r\n", b"a: b\r\n" * 10_000),
    "a trailer": Endless(CHUNKED + b"0\r\na: ", FILLER),
    "early hints": Endless(b"", b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" * 1000, size=FEW),
    "a header": Endless(OK + b"a: ", FILLER),
    "headers": Endless(OK, b"a: b\r\n" * 10_000),
    "a reason": Endless(b"HTTP/1.1 200 ", FILLER),
}


def asked(path: str, port: int, into: bytes = b"empty") -> bytes:
    """A request, of a browser but where only agents ask."""
    body = {COMPLETIONS: CALL, MCP: TOOL_CALL}.get(path, b"")
    address = b"127.0.0.1:%d" % port
    line = b"%b http://%b%b HTTP/1.1" % (b"POST" if body else b"GET", address, path.encode())
    kinds = b"Content-Type: application/json\r\nAccept: application/json, text/event-stream"
    fields = (
        b"Host: " + address,
        b"Connection: close",
        kinds if body else b"Sec-Fetch-Dest: " + into,
        b"Content-Length: %d" % len(body),
    )
    return b"\r\n".join((line, *fields, b"", body))


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_without_end_fills_no_memory(begin: Begin, plain: Origin, name: str) -> None:
    endless = ANSWERS[name]
    rule = endless.fault and scenario(endless.fault, match={"url": "*/x"})
    into = b"document" if endless.changed_as == "page" else b"empty"
    with (
        EndlessSite(endless.start, endless.piece, endless.size) as site,
        begin(**{"scenario": rule} if rule else {}) as lane,
        watching(lane, plain) as watch,
        socket.create_connection(("127.0.0.1", lane.port), timeout=20) as client,
    ):
        client.sendall(asked(endless.path, site.port, into))
        drain(client)
    assert watch.grown < (MOST_OF_A_MESSAGE if endless.path == MCP else MOST)
    assert lane.events(HarnessBroke) == []


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


UPLOADS = {
    "an upload": ("/", b"", chunk(FILLER), MANY),
    "an upload of tiny chunks": ("/", b"", b"1\r\na\r\n" * 10_000, FEW),
    "a chunk's extension": ("/", b"1;", FILLER, MANY),
    "trailers": ("/", b"0\r\n", b"a: b\r\n" * 10_000, MANY),
    "a prompt": (COMPLETIONS, chunk(CALL[:-3]), chunk(FILLER), MANY),
    "a tool's argument": (MCP, chunk(TOOL_CALL[:-4] + b'"a":"'), chunk(FILLER), MANY),
}


@pytest.mark.parametrize("reads", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("name", UPLOADS)
def test_a_request_without_end_fills_no_memory(
    begin: Begin, plain: Origin, name: str, reads: bool
) -> None:
    path, start, piece, size = UPLOADS[name]
    with (
        EndlessSite(b"", reads=reads) as site,
        begin() as lane,
        watching(lane, plain) as watch,
        socket.create_connection(("127.0.0.1", lane.port)) as client,
    ):
        address = f"127.0.0.1:{site.port}"
        kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        head = f"POST http://{address}{path} HTTP/1.1\r\nHost: {address}\r\n{kind}"
        client.sendall(head.encode() + start)
        flood(client, piece, size)
    assert watch.grown < (MOST_OF_A_MESSAGE if path == COMPLETIONS else MOST)
    assert lane.events(HarnessBroke) == []


# ---- WebSockets

UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"
)
TAKEN = f"HTTP/1.1 101 Switching Protocols\r\n{UPGRADE}Sec-WebSocket-Accept: {ACCEPT}\r\n\r\n"
TEXT, MORE, PING, FINAL, DEFLATED = 1, 0, 9, 128, 64
NO_MASK = bytes(4)
"""The mask of a client's frames, which leaves them as they are."""


def framed(kind: int, data: bytes, *, from_client: bool) -> bytes:
    mask = NO_MASK if from_client else b""
    return bytes((kind, (128 if mask else 0) | 127)) + len(data).to_bytes(8) + mask + data


def deflated() -> tuple[bytes, bytes]:
    """The beginning of an endless message, and a fragment that holds 16 MiB."""
    coder = zlib.compressobj(9, wbits=-15)
    begun = coder.compress(b"\0") + coder.flush(zlib.Z_FULL_FLUSH)
    return begun, coder.compress(bytes(16 * MEGABYTES)) + coder.flush(zlib.Z_FULL_FLUSH)


WS_BEGUN, WS_BOMB = deflated()
MESSAGES = {
    "a message": ((TEXT, b"x"), (MORE, FILLER), 1, MANY),
    "a bomb": ((TEXT | DEFLATED, WS_BEGUN), (MORE, WS_BOMB), 1, MANY),
    "messages": ((FINAL | TEXT, b"x"), (FINAL | TEXT, b"hi"), 5000, FEW),
    "pings": ((FINAL | TEXT, b"x"), (FINAL | PING, b"hi"), 5000, FEW),
    "empty fragments": ((TEXT, b"x"), (MORE, b""), 5000, FEW),
}


@pytest.mark.parametrize("path", ["/ws", "/v1/responses"], ids=["unread", "read"])
@pytest.mark.parametrize("by_client", [True, False], ids=["client", "site"])
@pytest.mark.parametrize("name", MESSAGES)
def test_websocket_messages_without_end_fill_no_memory(
    begin: Begin, plain: Origin, name: str, by_client: bool, path: str
) -> None:
    first, then, count, size = MESSAGES[name]
    start = framed(*first, from_client=by_client)
    piece = framed(*then, from_client=by_client) * count
    from_site = (TAKEN.encode() + start, piece, size) if not by_client else (TAKEN.encode(),)
    with (
        EndlessSite(*from_site) as site,
        begin() as lane,
        watching(lane, plain) as watch,
        socket.create_connection(("127.0.0.1", lane.port), timeout=20) as client,
    ):
        address = f"127.0.0.1:{site.port}"
        key = f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
        head = f"GET http://{address}{path} HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}{key}"
        client.sendall(head.encode())
        assert client.recv(12) == b"HTTP/1.1 101"
        if by_client:
            client.sendall(start)
            flood(client, piece, size)
        else:
            drain(client)
    assert watch.grown < MOST
    assert lane.events(HarnessBroke) == []


# ---- slow readers


@pytest.fixture
def endless() -> Iterator[EndlessSite]:
    with EndlessSite(of(b"application/octet-stream"), FILLER, MANY) as site:
        yield site


def test_clients_that_read_nothing_fill_no_memory(
    begin: Begin, plain: Origin, endless: EndlessSite
) -> None:
    with begin() as lane, watching(lane, plain) as watch, ExitStack() as stack:
        for _ in range(50):
            client = socket.create_connection(("127.0.0.1", lane.port))
            stack.enter_context(client).sendall(asked(PAGE, endless.port))
        # Every one has stopped: the site could send no more for a while.
        wait_until(lambda: endless.stopped == 50, 60)
    assert watch.grown < MOST
    assert lane.events(HarnessBroke) == []


def test_streams_that_are_not_read_fill_no_memory(
    begin: Begin, plain: Origin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    secure_h2.routes["/large"] = Answer(body=bytes(4 * MEGABYTES))
    with (
        begin() as lane,
        watching(lane, plain) as watch,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, f"localhost:{secure_h2.port}", window=1000)
        streams = [client.ask("/large") for _ in range(90)]
        client.read_until(lambda: all(client.streams[it].headers for it in streams), streams[0])
        # As much has come from the site as the connection to it has room for.
        client.read_until(lambda: sum(bool(it.body) for it in client.streams.values()) >= 8, 1)
    assert watch.grown < MOST
    assert lane.events(HarnessBroke) == []
