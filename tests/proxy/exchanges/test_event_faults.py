"""Faults of single events of a stream, as its client meets them."""

import gzip
import json
import time
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from typing import Any

import pytest

from tests.proxy.support.client import H2Client, secure, tunnelled
from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.origin import Answer, Origin, Seen
from warex.faults.streams.sse_fault import SseFault
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, HarnessBroke, Witness

pytestmark = pytest.mark.wire

SSE = [(b"Content-Type", b"text/event-stream")]
NDJSON = [(b"Content-Type", b"application/x-ndjson")]
EVENTS = [b'id: %d\ndata: {"id": %d, "price": %d}\n\n' % (n, n, 10 + n) for n in range(1, 6)]
ASKED = b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def read(lane: Lane, site: Origin, path: str, within: float = 5) -> tuple[bytes, bool]:
    """Return the body of an answer in chunks, and whether it is complete."""
    with tunnelled(lane.port, "127.0.0.1", site.port) as client:
        client.settimeout(within)
        client.sendall(ASKED % path.encode())
        got = b""
        with suppress(OSError):
            while piece := client.recv(65536):
                got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    out = b""
    while b"chunked" in head and body:
        size, _, rest = body.partition(b"\r\n")
        if size == b"0":
            return out, True
        out += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return out, head.startswith(b"HTTP/1.1 5")


def ids(body: bytes) -> list[int]:
    return [int(it[4:]) for it in body.splitlines() if it.startswith(b"id: ")]


async def endless(seen: Seen, reader: StreamReader, writer: StreamWriter) -> None:
    """Send five events, and nothing more until the client leaves."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    writer.write(head + b"".join(EVENTS))
    await reader.read()


@pytest.fixture
def site(plain: Origin) -> Origin:
    plain.routes["/events"] = Answer(headers=SSE, body=b"".join(EVENTS))
    plain.routes["/endless"] = endless
    lines = b"".join(b'{"id": %d, "price": %d}\n' % (n, n) for n in range(1, 5))
    plain.routes["/lines"] = Answer(headers=NDJSON, body=lines)
    plain.routes["/zip"] = Answer(
        headers=[*SSE, (b"Content-Encoding", b"gzip")], body=gzip.compress(b"".join(EVENTS))
    )
    plain.routes["/json"] = Answer(headers=[(b"Content-Type", b"application/json")], body=b"{}")
    return plain


@pytest.mark.parametrize(
    ("fault", "wanted", "count"),
    [
        ({"action": "drop", "every": 2}, [1, 3, 5], 2),
        ({"action": "duplicate", "nth": 3}, [1, 2, 3, 3, 4, 5], 1),
        ({"action": "reorder", "nth": 1}, [2, 1, 3, 4, 5], 1),
        ({"action": "close", "nth": 3}, [1, 2], 1),
        ({"action": "drop", "members": {"/id": 4}}, [1, 2, 3, 5], 1),
    ],
    ids=lambda it: str(it.get("action")) if isinstance(it, dict) else "",
)
def test_events_are_dropped_repeated_and_put_out_of_order(
    begin: Begin, site: Origin, fault: dict[str, Any], wanted: list[int], count: int
) -> None:
    with begin(scenario=scenario(SseFault.model_validate(fault))) as lane:
        for path in ("/json", "/events"):  # Only streams are counted, and hit.
            body, is_complete = read(lane, site, path)
        assert (ids(body), is_complete) == (wanted, True)
    assert len(lane.events(FaultDelivered)) == 1
    assert len([it for it in lane.events(Witness) if it.what == "changed"]) == count - 1
    assert not lane.events(FaultMissed) + lane.events(HarnessBroke)


def test_values_are_corrupted_in_events_lines_and_compressed(begin: Begin, site: Origin) -> None:
    fault = SseFault(action="corrupt", at="/price", nth=(2,))
    with begin(scenario=scenario(fault)) as lane:
        for path in ("/events", "/zip"):
            body, is_complete = read(lane, site, path)
            texts = [it[6:] for it in body.splitlines() if it.startswith(b"data: ")]
            assert is_complete
            assert [json.loads(it)["price"] for it in texts] == [11, 13, 13, 14, 15], path
        body, _ = read(lane, site, "/lines")
        assert [json.loads(it)["price"] for it in body.splitlines()] == [1, 3, 3, 4]
    changes = [it.changes[0] for it in lane.events(FaultDelivered)]
    assert [(it.where, it.before, it.after) for it in changes] == [
        ("event 2: /price", "12", "13"),
        ("event 2: /price", "12", "13"),
        ("line 2: /price", "2", "3"),
    ]


def test_a_stream_is_refused_reset_delayed_and_falls_silent(begin: Begin, site: Origin) -> None:
    once = Trigger(first=1)
    with (
        begin(scenario=scenario(SseFault(action="refuse", status=503), once)) as lane,
        tunnelled(lane.port, "127.0.0.1", site.port) as client,
    ):
        client.sendall(ASKED % b"/endless")
        assert client.recv(100).startswith(b"HTTP/1.1 503 ")
    with begin(scenario=scenario(SseFault(action="reset", nth=(2,)))) as lane:
        assert read(lane, site, "/events") == (EVENTS[0], False)
    with begin(scenario=scenario(SseFault(action="delay", nth=(2,), seconds=0.3))) as lane:
        began = time.monotonic()
        body, is_complete = read(lane, site, "/events")
        assert (ids(body), is_complete) == ([1, 2, 3, 4, 5], True)
        assert time.monotonic() - began >= 0.3
    assert lane.events(FaultDelivered)[0].waited_s >= 0.3
    with begin(scenario=scenario(SseFault(action="stall", nth=(3,)))) as lane:
        body, is_complete = read(lane, site, "/endless", within=1.4)
        assert (ids(body), is_complete) == ([1, 2], False)
        wait_until(lambda: lane.events(FaultDelivered))
    assert lane.events(FaultDelivered)[0].waited_s >= 1
    with begin(scenario=scenario(SseFault(action="close", nth=(3,)))) as lane:
        assert read(lane, site, "/endless") == (EVENTS[0] + EVENTS[1], True)
    assert not lane.events(FaultMissed)


def test_a_stream_without_a_hit_is_missed(begin: Begin, site: Origin) -> None:
    with begin(scenario=scenario(SseFault(action="drop", event="other"))) as lane:
        assert ids(read(lane, site, "/events")[0]) == [1, 2, 3, 4, 5]
    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]


def test_event_faults_work_over_http_2(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    secure_h2.routes["/events"] = Answer(headers=SSE, body=b"".join(EVENTS))
    fault = SseFault(action="drop", nth=(2,))
    ending = SseFault(action="close", nth=(4,))
    for each, wanted in ((fault, [1, 3, 4, 5]), (ending, [1, 2, 3])):
        with begin(scenario=scenario(each)) as lane:
            port = secure_h2.port
            with secure(lane.port, "localhost", port, ca.certificate, "h2") as connection:
                client = H2Client(connection, f"localhost:{port}")
                got = client.wait(client.ask("/events"))
                assert (ids(got.body), got.ended) == (wanted, True)
        assert len(lane.events(FaultDelivered)) == 1
