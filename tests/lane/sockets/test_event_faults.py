"""What is done for the events of a stream that are hit; over sockets in tests/proxy."""

import gzip
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.lane.sockets.test_hits import rule_of
from warex.engine.handler import BodyStep, EndBody, Happened, Stop
from warex.faults.streams.sse_fault import SseFault
from warex.lane.sockets.event_faults import EventFaults


class Stream:
    """The faults of one stream, and what they ask for later."""

    def __init__(self, *faults: SseFault, coding: str = "") -> None:
        self.later: list[Callable[[], None]] = []
        self.pushed: list[bytes] = []
        self.faults = EventFaults(
            [rule_of(it) for it in faults],
            "text/event-stream",
            coding,
            lambda: 0.0,
            lambda _, function: self.later.append(function),
            self.pushed.append,
        )

    def send(self, data: bytes, *, last: bool = False) -> list[Any]:
        return shown(self.faults.steps(data, last=last))


def shown(steps: Iterable[BodyStep]) -> list[Any]:
    results: list[Any] = []
    for step in steps:
        match step:
            case Stop(_, seconds, then):
                results.append((seconds, then))
            case EndBody():
                results.append("end")
            case Happened():
                results.append("!")
            case _:
                results.append(step.decode())
    return results


A, B = "data: a\n\n", "data: b\n\n"


@pytest.mark.parametrize(
    ("fault", "done"),
    [
        ({"action": "drop", "first": 1}, ["", "!", B]),
        ({"action": "duplicate", "nth": 2}, [A, B, B, "!"]),
        ({"action": "reorder"}, [B, A, "!"]),
        ({"action": "close"}, ["!", "end", B]),
        ({"action": "reset", "nth": 2}, [A, "!", (0, "reset")]),
        ({"action": "delay", "nth": 1}, [(3, "go_on"), A, "!", B]),
        ({"action": "stall", "seconds": 5}, [(1, "go_on"), "!", (4, "go_on"), A, B]),
    ],
    ids=lambda it: str(it.get("action")) if isinstance(it, dict) else "",
)
def test_each_action_is_a_plan_of_steps(fault: dict[str, Any], done: list[Any]) -> None:
    assert Stream(SseFault.model_validate(fault)).send(f"{A}{B}".encode()) == done


def test_an_event_that_nothing_overtakes_goes_in_its_turn() -> None:
    stream = Stream(SseFault(action="reorder"))
    assert stream.send(A.encode()) == []
    stream.later[0]()
    assert stream.pushed == [A.encode()]
    stream = Stream(SseFault(action="reorder"))
    assert stream.send(A.encode(), last=True) == [A]


def test_comments_pass_and_are_not_counted() -> None:
    stream = Stream(SseFault(action="drop", first=1))
    assert stream.send(b": hi\n\nretry: 9\ndata: a\n\n" + B.encode()) == [
        ": hi\n\n",
        "retry: 9\n\n",
        "!",
        B,
    ]


def test_a_compressed_stream_is_read_and_a_bomb_passes() -> None:
    stream = Stream(SseFault(action="drop", nth=(2,)), coding="gzip")
    assert "".join(map(str, stream.send(gzip.compress(f"{A}{B}".encode()), last=True))) == f"{A}!"
    bomb = gzip.compress(bytes(60_000_000))
    stream = Stream(SseFault(action="drop"), coding="gzip")
    assert stream.send(bomb, last=True)
