"""What a site sends waits until its exchange takes it, in order."""

import asyncio

from warex.engine.http.events import DataReceived, MessageEnded, ResponseEvent
from warex.engine.sites import Inbox
from warex.engine.sockets.buffers import Buffers, Intake


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
