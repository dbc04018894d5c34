"""What a site sends waits for its exchange in order; a request leaves in few writes."""

import asyncio
from typing import Any, cast

from warex.engine.ends import End
from warex.engine.http.events import DataReceived, MessageEnded, ResponseEvent
from warex.engine.http.heads import Headers, RequestHead
from warex.engine.http.http1.client import Http1Client
from warex.engine.sites import Inbox, SiteSide
from warex.engine.sockets.buffers import Buffers, Intake
from warex.engine.sockets.turns import Turns


class Peer:
    """Sends on, whatever waits."""

    def pause(self, by: object) -> None:
        raise AssertionError

    def resume(self, by: object) -> None:
        raise AssertionError


class FullSink:
    """Takes parts, and after each of them no more."""

    def __init__(self) -> None:
        self.parts: list[DataReceived] = []

    def take(self, part: DataReceived) -> None:
        self.parts.append(part)

    def flush(self) -> bool:
        return not self.parts


def test_a_part_that_comes_after_the_sink_was_full_is_given_to_it_next() -> None:
    first, second = (DataReceived(1, payload) for payload in (b"first", b"second"))
    end = MessageEnded(1)

    async def delivered() -> tuple[list[ResponseEvent | None], list[DataReceived]]:
        inbox: Inbox[ResponseEvent] = Inbox(Intake(Peer(), Buffers(), has_windows=True))
        sink = FullSink()
        waiting = asyncio.create_task(inbox.deliver(sink))
        await asyncio.sleep(0)
        inbox.put(first)
        inbox.flush()  # The sink is full: the exchange is woken, in the next turn.
        inbox.put(second)
        results = [await waiting]
        sink.parts.clear()
        inbox.put(end)
        results.append(await inbox.deliver(sink))
        return results, sink.parts

    assert asyncio.run(delivered()) == ([None, end], [second])


class RecordedEnd:
    """Records what is written to a site."""

    def __init__(self) -> None:
        self.buffers = Buffers()
        self.written: list[bytes] = []

    def start(self, on_data: object) -> None:
        pass

    def write(self, data: bytes) -> None:
        self.written.append(data)


def requested(body: bytes | None) -> list[bytes]:
    """Return what is written for a request in one turn; ``body``: what has come with its head."""
    fields = Headers([(b"Host", b"a"), (b"Content-Length", b"5")])
    head = RequestHead("POST", "http", "a", "/", "HTTP/1.1", fields)

    async def request() -> list[bytes]:
        end, http = RecordedEnd(), Http1Client(secure=False, default_port=True)
        broken: Any = None
        side = SiteSide(cast("End", end), http, "HTTP/1.1", broken, Turns())
        stream, _ = side.request(head, has_body=True, raw_body=True)
        if body is not None:
            side.write_data(stream, body, body)
        await asyncio.sleep(0)
        return end.written

    return asyncio.run(request())


def test_a_request_leaves_in_one_write_with_the_body_that_has_come() -> None:
    (written,) = requested(b"hello")
    assert written.startswith(b"POST / HTTP/1.1\r\n")
    assert written.endswith(b"\r\n\r\nhello")


def test_a_head_does_not_wait_for_a_body_that_has_not_come() -> None:
    (written,) = requested(None)
    assert written.endswith(b"\r\n\r\n")
