"""What passes between a client and its server, and what the trial says to it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from warex.clock import Clock
from warex.lane.stdio.steps import Step
from warex.sandbox.stdio.relay import Relay
from warex.sandbox.stdio.trial import TrialGone

PASS = Step("pass")


@dataclass
class Pipe:
    taken: list[bytes] = field(default_factory=list)
    is_broken: bool = False

    async def write(self, data: bytes) -> bool:
        if not self.is_broken:
            self.taken.append(data)
        return not self.is_broken


@dataclass
class Decides:
    """A trial that says what it was told to."""

    requests: dict[int, Step] = field(default_factory=dict)
    answers: dict[int, Step] = field(default_factory=dict)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    outcomes: dict[int, dict[str, Any]] = field(default_factory=dict)
    is_gone: bool = False

    def _note(self, *call: Any) -> None:
        self.calls.append(call)
        if self.is_gone:
            raise TrialGone("the trial is void")

    def request(self, exchange: int, message: bytes) -> Step:
        self._note("request", exchange, message)
        return self.requests.get(exchange, PASS)

    def answer(self, exchange: int, message: bytes) -> Step:
        self._note("answer", exchange, message)
        return self.answers.get(exchange, PASS)

    def complete_answer(self, exchange: int) -> Step:
        self._note("whole", exchange)
        return Step("say", pieces=(b"changed\n",))

    def hold_ended(self, exchange: int) -> None:
        self._note("held", exchange)

    def ended(self, exchange: int, outcome: dict[str, Any]) -> None:
        self._note("ended", exchange)
        self.outcomes[exchange] = outcome

    def exchanges_of(self, call: str) -> list[int]:
        return [it[1] for it in self.calls if it[0] == call]


@dataclass
class Scene:
    trial: Decides = field(default_factory=Decides)
    client: Pipe = field(default_factory=Pipe)
    server: Pipe = field(default_factory=Pipe)
    crashes: int = 0
    notices: list[str] = field(default_factory=list)
    relay: Relay = field(init=False)

    def play(self, scene: Callable[["Scene"], Awaitable[None]]) -> "Scene":
        def crash() -> None:
            self.crashes += 1

        async def run() -> None:
            async with asyncio.timeout(20), asyncio.TaskGroup() as group:
                self.relay = Relay(
                    self.trial,  # type: ignore[arg-type]
                    self.client,
                    self.server,
                    crash=crash,
                    begin_task=group.create_task,
                    notice=self.notices.append,
                    clock=Clock(),
                )
                await scene(self)

        asyncio.run(run())
        return self

    async def ask(self, *messages: bytes) -> None:
        await self.relay.from_client(b"".join(messages))

    async def answer(self, *messages: bytes) -> None:
        await self.relay.from_server(b"".join(messages))


def asked(identifier: object, method: str = "tools/call") -> bytes:
    message = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": {"name": "look"}}
    return json.dumps(message).encode() + b"\n"


def answered(identifier: object) -> bytes:
    return b'{ "jsonrpc":"2.0",  "id": %s,\t"result": {} }\r\n' % json.dumps(identifier).encode()


def cancelled(identifier: object) -> bytes:
    params = {"requestId": identifier}
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    return json.dumps(message).encode() + b"\n"


def test_untouched_messages_pass_byte_for_byte_in_their_order() -> None:
    message = [asked(1), b"no json\n", b"\n", b"\xff\xfe\r\n", asked("1"), b'{"jsonrpc": "2.0"']
    heard = [answered("1"), b'{"jsonrpc":"2.0","method":"x"}\n', b"log\n", answered(1), b"rest"]

    async def scene(it: Scene) -> None:
        for piece in message:
            await it.ask(piece)
        await it.ask()
        for piece in heard:
            await it.answer(piece)
        await it.answer()

    it = Scene().play(scene)
    assert b"".join(it.server.taken) == b"".join(message)
    assert b"".join(it.client.taken) == b"".join(heard)
    assert it.trial.exchanges_of("request") == [1, 2]
    assert it.trial.exchanges_of("answer") == [2, 1]
    assert [it.trial.outcomes[n]["end"] for n in (1, 2)] == ["complete", "complete"]
    assert it.trial.outcomes[1]["arrived"]


def test_what_the_trial_says_goes_to_the_client_and_not_to_the_server() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1), asked(2))

    it = Scene(Decides({1: Step("say", pieces=(b"fault\n",))})).play(scene)
    assert (it.client.taken, it.server.taken) == ([b"fault\n"], [asked(2)])
    assert it.trial.outcomes[1]["end"] == "complete"


def test_other_messages_pass_while_one_is_held() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1), asked(2))
        assert it.server.taken == [asked(2)]
        await it.relay.wait_for_holds()

    it = Scene(Decides({1: Step("pass", (0.01, 0.01))})).play(scene)
    assert it.server.taken == [asked(2), asked(1)]
    assert it.trial.exchanges_of("held") == [1]


def test_a_server_cannot_answer_what_it_was_not_asked() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        await it.answer(answered(1))
        await it.relay.wait_for_holds()
        await it.answer(answered(1))

    it = Scene(Decides({1: Step("pass", (0.01,))})).play(scene)
    assert it.client.taken == [answered(1), answered(1)]
    assert it.trial.exchanges_of("answer") == [1]
    assert it.trial.outcomes[1]["end"] == "complete"


def test_a_held_answer_is_asked_for_after_its_hold() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        await it.answer(answered(1), b"log\n")
        await it.relay.wait_for_holds()

    it = Scene(Decides(answers={1: Step("whole", (0.01,))})).play(scene)
    assert it.client.taken == [b"log\n", b"changed\n"]
    assert [call[0] for call in it.trial.calls] == ["request", "answer", "held", "whole", "ended"]
    assert it.trial.outcomes[1]["held_s"] >= 0.01


def test_a_request_that_is_cancelled_while_it_is_held_was_given_up() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1), cancelled(1))
        await it.ask(asked(2))

    it = Scene(Decides({1: Step("pass", (60.0,)), 3: Step("pass", (60.0,))}))
    it.trial.requests.pop(3)
    it.play(scene)
    outcome = it.trial.outcomes[1]
    assert (outcome["end"], outcome["left_while_held"]) == ("client_left", True)
    assert it.server.taken == [cancelled(1), asked(2)]


def test_a_cancelled_request_ends_and_its_late_answer_passes() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1), cancelled(1))
        await it.answer(answered(1))

    it = Scene().play(scene)
    assert it.trial.outcomes[1]["end"] == "client_left"
    assert it.trial.exchanges_of("answer") == [2]  # The notification is accepted.
    assert it.client.taken == [answered(1)]


def test_a_client_that_closes_its_end_gives_up_what_is_held() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        await it.ask()

    it = Scene(Decides({1: Step("pass", (60.0,))})).play(scene)
    assert it.trial.outcomes[1]["end"] == "client_left"
    assert it.server.taken == []


def test_a_server_that_ends_leaves_its_requests_unanswered() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        await it.answer()

    outcome = Scene().play(scene).trial.outcomes[1]
    assert (outcome["end"], outcome["error"]) == (
        "site_failed",
        "the server ended before it answered",
    )


def test_what_a_gone_client_did_not_take_has_not_arrived() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        it.client.is_broken = True
        await it.answer(answered(1))

    outcome = Scene().play(scene).trial.outcomes[1]
    assert outcome["end"] == "client_left"
    assert not outcome.get("arrived")


def test_a_cut_is_a_crash_of_the_server() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        await it.ask(asked(2))

    half = Step("say", pieces=(b'{"half', b'": '), pause_s=0.01, is_cut=True)
    it = Scene(Decides({1: Step("end"), 2: half})).play(scene)
    assert it.crashes == 2
    assert it.client.taken == [b'{"half', b'": ']
    assert [it.trial.outcomes[n]["end"] for n in (1, 2)] == ["aborted", "aborted"]


def test_without_a_trial_each_request_gets_an_error_and_nothing_passes() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        it.trial.is_gone = True
        await it.answer(answered(1))
        await it.ask(asked("two"), b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    it = Scene().play(scene)
    assert it.server.taken == [asked(1)]
    errors = [json.loads(line) for line in it.client.taken]
    assert [error["id"] for error in errors] == [1, "two"]
    assert all("the trial is void" in error["error"]["message"] for error in errors)
    assert set(it.notices) == {"the trial is void"}


def test_a_trial_that_goes_in_a_hold_answers_with_an_error() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1))
        it.trial.is_gone = True
        await it.relay.wait_for_holds()

    it = Scene(Decides({1: Step("pass", (0.01,))})).play(scene)
    assert it.server.taken == []
    assert "error" in json.loads(it.client.taken[0])


def test_an_id_that_is_used_again_is_another_request() -> None:
    async def scene(it: Scene) -> None:
        await it.ask(asked(1), asked(1))
        await it.answer(answered(1))

    it = Scene().play(scene)
    assert it.trial.outcomes[1]["error"] == "its id was used again"
    assert it.trial.outcomes[2]["end"] == "complete"


def test_a_batch_is_one_exchange_answered_after_all_its_requests() -> None:
    batch = b"[" + asked(1).strip() + b"," + asked(2).strip() + b"]\n"

    async def scene(it: Scene) -> None:
        await it.ask(batch)
        await it.answer(answered(2))
        assert it.client.taken == []
        await it.answer(answered(1))

    it = Scene().play(scene)
    assert b"".join(it.client.taken) == answered(2) + answered(1)
    messages = [json.loads(call[2]) for call in it.trial.calls if call[0] == "answer"]
    assert [[each["id"] for each in message] for message in messages] == [[2, 1]]


def test_requests_without_an_answer_are_bounded() -> None:
    async def scene(it: Scene) -> None:
        for number in range(10_001):
            await it.ask(asked(number))

    it = Scene().play(scene)
    assert list(it.trial.outcomes) == [1]
    assert it.trial.outcomes[1]["end"] == "site_failed"


def test_an_answer_before_its_request_is_written_is_decided_once() -> None:
    async def both(scene: Scene) -> None:
        reads, answers = asyncio.Event(), list[asyncio.Task[None]]()

        async def answers_at_once(data: bytes) -> bool:
            answers.append(asyncio.create_task(scene.answer(answered(1))))
            await asyncio.sleep(0)  # The answer waits for the client now.
            return True

        async def reads_late(data: bytes) -> bool:
            await reads.wait()
            return True

        scene.server.write = answers_at_once  # type: ignore[method-assign]
        scene.client.write = reads_late  # type: ignore[method-assign]
        await scene.ask(asked(1))
        reads.set()
        await answers[0]

    scene = Scene().play(both)

    assert scene.trial.exchanges_of("answer") == scene.trial.exchanges_of("ended") == [1]
    assert scene.trial.outcomes[1]["end"] == "complete"
