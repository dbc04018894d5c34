"""Whose turn it is; test_floods.py floods an engine."""

import asyncio

from warex.engine.sockets.turns import Peer, Turns

MUCH = 1.0


class End:
    def __init__(self) -> None:
        self.is_paused = False

    def pause(self, by: object) -> None:
        self.is_paused = True

    def resume(self, by: object) -> None:
        self.is_paused = False


class Client:
    """A peer, and when it was served."""

    def __init__(self, turns: Turns, name: str, log: list[str], *, cost: float = 0.0) -> None:
        self.end, self._name, self._log, self._cost = End(), name, log, cost
        self.peer = Peer(turns, self.end, self)

    def go_on(self) -> None:
        self._log.append(self._name)
        now = asyncio.get_running_loop().time()
        self.peer.served(now - self._cost, now)

    def send(self) -> None:
        if self.peer.must_wait:
            self.peer.wait()
        else:
            self.go_on()


async def test_work_within_the_budget_does_not_wait() -> None:
    log: list[str] = []
    turns = Turns()
    for name in "ab":
        Client(turns, name, log).send()
    assert log == ["a", "b"]
    assert not turns.is_over


async def test_those_that_used_little_come_before_those_that_used_much() -> None:
    log: list[str] = []
    turns = Turns()
    floods = [Client(turns, name, log, cost=MUCH) for name in "fg"]
    for each in floods:
        each.go_on()
    calm = [Client(turns, name, log) for name in "abc"]
    log.clear()
    for each in (*floods, *calm):
        each.send()
    assert log == []
    assert all(it.end.is_paused for it in (*floods, *calm))
    await asyncio.sleep(0)
    # One flood goes on in each turn.
    assert log == ["a", "b", "c", "f"]
    assert [it.end.is_paused for it in (*floods, *calm)] == [False, True, False, False, False]
    await asyncio.sleep(0)
    assert log[4:] == ["g"]


async def test_a_peer_that_used_much_long_ago_has_used_little() -> None:
    log: list[str] = []
    turns = Turns()
    now = asyncio.get_running_loop().time()
    former, flood = (Client(turns, name, log, cost=MUCH) for name in "ab")
    former.peer.served(now - 100 - MUCH, now - 100)
    former.peer.served(now, now)
    flood.peer.served(now - MUCH, now)
    flood.peer.wait()
    former.peer.wait()
    await asyncio.sleep(0)
    assert log == ["a", "b"]


async def test_endings_are_charged_and_a_turn_can_be_awaited() -> None:
    log: list[str] = []
    turns = Turns()
    client = Client(turns, "a", log)
    await client.peer.turn()
    assert not turns.is_over
    client.peer.charge(100)
    assert turns.is_over
    async with asyncio.timeout(5):
        await client.peer.turn()
    assert not turns.is_over
