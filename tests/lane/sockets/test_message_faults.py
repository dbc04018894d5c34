"""What is done for the messages of a WebSocket that are hit; over sockets in tests/proxy."""

import json
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any

import pytest
from bench.fuzz.mutants_websocket import deflated

from tests.lane.sockets.test_hits import rule_of
from warex.engine.handler import EndSocket, FrameStep, Happened, HoldMessages
from warex.engine.http.heads import Headers
from warex.engine.http.websocket import Frame, FrameParser, serialise
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.lane.sockets.message_faults import SocketFaults

ABOUT = "GET https://shop.test/ws"


class Socket:
    """The faults of one WebSocket, and what they ask for later."""

    def __init__(self, *faults: WebsocketFault, **fields: str) -> None:
        self.now = 0.0
        self.later: list[Callable[[], None]] = []
        self.added: list[FrameStep] = []
        rules = [rule_of(it) for it in faults]
        answered = Headers(
            (name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()
        )
        self.faults = SocketFaults(rules, answered, lambda: self.now, self._call, self._add)

    def _call(self, seconds: float, function: Callable[[], None]) -> None:
        self.later.append(function)

    def _add(self, steps: Sequence[FrameStep], from_client: bool) -> None:
        self.added.extend(steps)

    def send(self, *contents: str | bytes, from_client: bool = False) -> list[FrameStep]:
        """Return what is done for messages."""
        data = b"".join(serialise(Frame(1, _bytes(it))) for it in contents)
        return [
            step
            for frame in FrameParser(from_client=False).receive(data)
            for step in self.faults.frame(frame, from_client=from_client)
        ]


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def shown(steps: Iterable[FrameStep]) -> list[Any]:
    """Return the texts of frames, and the names or seconds of other steps."""
    results: list[Any] = []
    for step in steps:
        match step:
            case Frame():
                results.append(step.payload.decode())
            case HoldMessages(seconds):
                results.append(seconds)
            case EndSocket(how, code):
                results.append((how, code))
            case Happened(hit):
                results.append("!" + "; ".join(f"{it.before}>{it.after}" for it in hit.changes))
    return results


@pytest.mark.parametrize(
    ("fault", "done"),
    [
        ({"action": "drop"}, ["!a>None", "!b>None"]),
        ({"action": "drop", "first": 1}, ["!a>None", "b"]),
        ({"action": "duplicate", "every": 2}, ["a", "b", "b", "!once>twice"]),
        ({"action": "reorder"}, ["b", "a", "!in its turn>after the next one"]),
        ({"action": "reset"}, [("reset", 1011), "b"]),
        ({"action": "close", "code": 4000, "nth": 2}, ["a", ("close", 4000)]),
        ({"action": "delay"}, [3, "a", "!a>3 s later", 0, "b", "!b>3 s later"]),
        ({"action": "stall"}, [1, "!a>silence", inf, "a", "b"]),
        ({"action": "stall", "seconds": 0.5}, [0.5, "!a>silence", 0, "a", "b"]),
    ],
    ids=lambda it: str(it.get("action")) if isinstance(it, dict) else "",
)
def test_each_action_is_a_plan_of_frames(fault: dict[str, Any], done: list[Any]) -> None:
    assert shown(Socket(WebsocketFault.model_validate(fault)).send("a", "b")) == done


def test_a_later_message_waits_only_for_its_own_delay() -> None:
    socket = Socket(WebsocketFault(action="delay", seconds=2))
    assert shown(socket.send("a"))[0] == 2
    socket.now = 0.5
    assert shown(socket.send("b"))[0] == 0.5
    socket.now = 9
    assert shown(socket.send("c"))[0] == 2


def test_only_messages_with_a_value_to_corrupt_count() -> None:
    socket = Socket(WebsocketFault(action="corrupt", first=1, how="nulled"))
    done = socket.send("hello", '{"name": "x"}', '{"price": 3}', '{"price": 4}')

    assert shown(done) == [
        "hello",
        '{"name": "x"}',
        '{"price": null}',
        "!3>null",
        '{"price": 4}',
    ]


def test_a_message_that_nothing_overtakes_goes_in_its_turn_and_is_not_hit() -> None:
    socket = Socket(WebsocketFault(action="reorder"))
    assert socket.send("a") == []
    socket.later[0]()
    assert shown(socket.added) == ["a"]
    assert shown(socket.send("b", "c"))[:2] == ["c", "b"]
    socket.later[0]()
    socket.later[1]()
    assert shown(socket.added) == ["a"]

    socket = Socket(WebsocketFault(action="reorder"))
    socket.send("a")
    assert shown(socket.faults.frame(Frame(8, b""), from_client=False)) == ["a", ""]
    socket = Socket(WebsocketFault(action="reorder"))
    socket.send("a")
    assert shown(socket.faults.end(from_client=False)) == ["a"]


def test_a_message_is_hit_by_the_first_rule_that_fits_and_counted_by_all() -> None:
    socket = Socket(
        WebsocketFault(action="drop", text="a"), WebsocketFault(action="duplicate", nth=(1, 2))
    )

    assert shown(socket.send("a", "b", "c")) == ["!a>None", "b", "b", "!once>twice", "c"]


def test_the_other_side_is_not_read() -> None:
    socket = Socket(WebsocketFault(action="drop", sender="client"))
    broken = Frame(3, b"", raw=b"?", flaw="the opcode 3 is reserved")

    assert list(socket.faults.frame(broken, from_client=False)) == [broken]
    assert shown(socket.send("a", from_client=True)) == ["!a>None"]
    both = Socket(WebsocketFault(action="drop", sender="both"))
    assert shown([*both.send("a"), *both.send("b", from_client=True)]) == ["!a>None", "!b>None"]


def test_an_operation_of_graphql_selects_its_answers() -> None:
    fault = WebsocketFault(action="drop", operation="subscription Prices")
    socket = Socket(fault, sec_websocket_protocol="graphql-transport-ws")
    for key, name in (("1", "Prices"), ("2", "Seats")):
        payload = {"query": f"subscription {name} {{ a }}"}
        begin = json.dumps({"id": key, "type": "subscribe", "payload": payload})
        assert shown(socket.send(begin, from_client=True)) == [begin]
    next_1, next_2 = (json.dumps({"id": key, "type": "next"}) for key in ("1", "2"))

    assert shown(socket.send(next_1, next_2)) == [f"!{next_1}>None", next_2]


def test_a_websocket_that_cannot_be_read_passes() -> None:
    socket = Socket(WebsocketFault(action="drop"), sec_websocket_extensions="unknown")
    assert shown(socket.send("a")) == ["a"]


def test_a_receiver_that_would_not_understand_the_rest_is_cut() -> None:
    socket = Socket(
        WebsocketFault(action="drop", first=1), sec_websocket_extensions="permessage-deflate"
    )
    compressed = Frame(1, deflated(b"a"), compressed=True, raw=b"1")
    broken = Frame(1, b"\xff\xff\xff", compressed=True, raw=b"2")

    assert shown(socket.faults.frame(compressed, from_client=False)) == ["!a>None"]
    assert list(socket.faults.frame(broken, from_client=False)) == [EndSocket("reset")]
