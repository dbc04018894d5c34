"""Answers pass as they come; what arrived and what did not is known."""

import asyncio
import os
import socket
from pathlib import Path

import httpx
import pytest

from tests.proxy.support.client import read_until_closed, trusting
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Origin, Seen
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import FaultDelivered, FaultMissed, LlmCall, ResponseSeen

pytestmark = pytest.mark.wire

EVENTS = 5


def test_events_pass_one_by_one(begin: Begin, plain: Origin) -> None:
    """The site sends event n+1 only when the client has said that it has event n."""
    turn = asyncio.Event()

    async def stream(
        seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Connection: close\r\n\r\n")
        for number in range(EVENTS):
            writer.write(b"data: %d\n\n" % number)
            await asyncio.wait_for(turn.wait(), 5)
            turn.clear()
        writer.close()

    plain.routes["/events"] = stream
    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        got = []
        with client.stream("GET", f"http://127.0.0.1:{plain.port}/events") as answer:
            for line in answer.iter_lines():
                if line:
                    got.append(line)
                    plain.run(turn.set)
    assert got == [f"data: {number}" for number in range(EVENTS)]
    assert lane.events(ResponseSeen)[0].size == len("data: 0\n\n") * EVENTS


def test_a_models_stream_passes_as_it_comes_and_is_one_call(begin: Begin, plain: Origin) -> None:
    turn = asyncio.Event()
    chunks = [
        b'data: {"model": "m-1", "choices": [{"index": 0, "delta": {"content": "cli"}}]}\n\n',
        b'data: {"choices": [{"index": 0, "delta": {"content": "ck"}}]}\n\n',
        b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n',
        b'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}\n\n',
        b"data: [DONE]\n\n",
    ]

    async def stream(
        seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Connection: close\r\n\r\n")
        for chunk in chunks:
            writer.write(chunk)
            await asyncio.wait_for(turn.wait(), 5)
            turn.clear()
        writer.close()

    path = "/v1/chat/completions"
    plain.routes[path] = stream
    messages = [{"role": "user", "content": "what now?"}]
    with begin() as lane, httpx.Client(proxy=lane.url) as client:
        got = b""
        with client.stream(
            "POST",
            f"http://127.0.0.1:{plain.port}{path}",
            json={"model": "m", "messages": messages, "stream": True},
            headers={"authorization": "Bearer sk-secret"},
        ) as answer:
            for piece in answer.iter_raw():
                got += piece
                plain.run(turn.set)
    assert got == b"".join(chunks)
    (call,) = lane.events(LlmCall)
    assert (call.model, call.answer, call.stream, call.complete) == ("m-1", "click", True, True)
    assert (call.input_tokens, call.output_tokens, call.usage) == (7, 3, "reported")
    assert call.messages == messages
    assert call.first_token_s is not None
    assert 0 < call.first_token_s <= call.latency_s
    assert (call.step, call.status, call.finish_reason) == (1, 200, "stop")
    assert "sk-secret" not in (lane.out / "events.jsonl").read_text()


def test_a_reply_that_the_client_reads_slowly_is_delivered_when_it_is_out(
    begin: Begin, plain: Origin
) -> None:
    body = "x" * 1_000_000
    with (
        begin(scenario=scenario(HttpError(status=500, body=body))) as lane,
        socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client,
    ):
        client.sendall(
            f"GET http://127.0.0.1:{plain.port}/ HTTP/1.1\r\nHost: x\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        assert read_until_closed(client).endswith(body.encode())
    assert len(lane.events(FaultDelivered)) == 1


def test_a_reply_that_is_never_read_is_missed(begin: Begin, plain: Origin) -> None:
    rule = scenario(HttpError(status=500, body="x" * 1_000_000))
    with begin(scenario=rule) as lane:
        client = socket.socket()
        # Small buffers, so that the answer cannot leave the proxy before it is read.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", lane.port))
        client.sendall(
            f"GET http://127.0.0.1:{plain.port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 4
        )
        client.recv(10)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    settled = [*lane.events(FaultDelivered), *lane.events(FaultMissed)]
    assert any(isinstance(event, FaultMissed) for event in settled)


@pytest.mark.slow
def test_a_large_download_takes_no_memory(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    size, piece = 300 * 2**20, bytes(2**18)

    async def download(
        seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        for _ in range(size // len(piece)):
            writer.write(piece)
            await writer.drain()

    secure_h1.routes["/big"] = download
    with begin() as lane, httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
        client.get(f"https://localhost:{secure_h1.port}/small")
        before = most = resident(lane.proxy.pid)
        got = 0
        with client.stream("GET", f"https://localhost:{secure_h1.port}/big") as answer:
            for data in answer.iter_raw():
                got += len(data)
                most = max(most, resident(lane.proxy.pid))
    assert got == size
    assert most - before < 64 * 2**20


def resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
