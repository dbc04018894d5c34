"""Stands between a client and its server of tools, and does what the trial says of each message.

Like the engine of HTTP, it moves bytes and decides nothing. What is not a message of
JSON-RPC passes unread.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from warex import mcp
from warex.clock import Clock
from warex.lane.stdio.steps import Step
from warex.mcp.changes import INTERNAL_ERROR, answers_to, error
from warex.mcp.line_stream import Line, LineReader
from warex.mcp.messages import Key, McpRequest
from warex.sandbox.stdio.trial import Trial, TrialGone

_MOST_OPEN: Final = 10_000
"""Requests without an answer; one more ends the oldest."""

type _End = Literal["complete", "client_left", "site_failed", "aborted"]


class Writer(Protocol):
    """Where messages go."""

    async def write(self, data: bytes) -> bool:
        """Write all of it; return whether the pipe has taken it."""


@dataclass(slots=True, eq=False)
class _Open:
    """A message of the client whose exchange has not ended."""

    number: int
    requests: tuple[McpRequest, ...]
    size: int
    began: float
    sent_at: float | None = None
    answered_at: float | None = None
    awaited: set[Key] = field(default_factory=set)
    """The ids that the server has not answered."""
    lines: list[bytes] = field(default_factory=list)
    """The server's answers, as they came."""
    held_s: float = 0.0
    hold: "asyncio.Task[None] | None" = None
    hold_began: float = 0.0
    is_over: bool = False


class Relay:
    """The messages between one client and one server."""

    def __init__(
        self,
        trial: Trial,
        client: Writer,
        server: Writer,
        *,
        crash: Callable[[], None],
        begin_task: Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"],
        notice: Callable[[str], None],
        clock: Clock,
    ) -> None:
        """``crash`` ends the server as if it had crashed; ``notice`` tells the user.

        ``begin_task`` runs a coroutine in the background and reports its failure.
        """
        self._trial, self._client, self._server = trial, client, server
        self._crash, self._notice, self._clock = crash, notice, clock
        self._begin_task = begin_task
        self._of_client, self._of_server = LineReader(), LineReader()
        self._open: dict[int, _Open] = {}
        self._by_key: dict[Key, _Open] = {}
        self._numbered = 0
        self._speaking = asyncio.Lock()
        """A message to the client is not mixed with another."""

    # ---- the client's messages

    async def from_client(self, data: bytes) -> None:
        """Handle a piece of the client's stream, empty at its end."""
        for line in self._of_client.feed(data) if data else self._of_client.rest():
            await self._client_line(line)
        if not data:  # The client wants no more, as the specification says.
            for each in [it for it in self._open.values() if it.hold is not None]:
                self._give_up(each, "the client gave it up")

    async def _client_line(self, line: Line) -> None:
        messages = mcp.read_messages(line.raw) if line.is_message else []
        if not messages:
            await self._server.write(line.raw)
            return
        self._numbered += 1
        now, requests = self._clock.wall(), tuple(mcp.requests(messages))
        each = _Open(self._numbered, requests, len(line.raw), now)
        try:
            step = self._trial.request(each.number, line.raw)
        except TrialGone as reason:
            await self._refuse(requests, reason)
            return
        self._open[each.number] = each
        self._await_answers(each)
        await self._follow(each, step, lambda: self._asked(each, step, line.raw))
        for key, _ in mcp.cancelled(messages):
            if (other := self._by_key.get(key)) is not None:
                self._give_up(other, "cancelled by the client")

    async def _asked(self, each: _Open, step: Step, raw: bytes) -> None:
        if step.then != "pass":
            await self._say(each, step)
            return
        # The server may have answered before the write returns.
        awaits_nothing = not each.awaited
        each.sent_at = self._clock.wall()
        await self._server.write(raw)
        if awaits_nothing and not each.is_over:
            await self._answered(each)

    def _await_answers(self, each: _Open) -> None:
        for key in [request.key for request in each.requests if request.key is not None]:
            if (other := self._by_key.get(key)) is not None:
                self._give_up(other, "its id was used again")
            each.awaited.add(key)
            self._by_key[key] = each
        while len(self._by_key) > _MOST_OPEN:
            oldest = next(iter(self._by_key.values()))
            self._end(oldest, "site_failed", "too many requests came after it")

    # ---- the server's messages

    async def from_server(self, data: bytes) -> None:
        """Handle a piece of the server's stream, empty at its end."""
        for line in self._of_server.feed(data) if data else self._of_server.rest():
            await self._server_line(line)
        if not data:
            for each in [it for it in self._open.values() if it.hold is None]:
                self._end(each, "site_failed", "the server ended before it answered")

    async def _server_line(self, line: Line) -> None:
        messages = mcp.read_messages(line.raw) if line.is_message else []
        answered: dict[int, _Open] = {}
        for answer in mcp.answers(messages):
            each = None if answer.key is None else self._by_key.get(answer.key)
            # What the server has not been asked yet it cannot answer.
            if each is not None and answer.key is not None and each.sent_at is not None:
                del self._by_key[answer.key]
                each.awaited.discard(answer.key)
                answered[each.number] = each
        if not answered:
            await self._tell(line.raw)
            return
        first, *others = answered.values()
        first.lines.append(line.raw)
        for each in (first, *others):
            each.answered_at = each.answered_at or self._clock.wall()
            if not each.awaited:
                await self._answered(each)

    async def _answered(self, each: _Open) -> None:
        """Ask what becomes of the complete answer, and do it."""
        message = each.lines[0] if len(each.lines) == 1 else b""
        if len(each.lines) > 1:  # Of a batch whose requests were answered one by one.
            message = b"[" + b",".join(line.strip() for line in each.lines) + b"]"
        try:
            step = self._trial.answer(each.number, message)
        except TrialGone as reason:
            await self._lose(each, reason)
            return
        await self._follow(each, step, lambda: self._carry_out(each, step))

    async def _carry_out(self, each: _Open, step: Step) -> None:
        if step.then == "whole":
            step = self._trial.complete_answer(each.number)
            await self._follow(each, step, lambda: self._carry_out(each, step))
        elif step.then == "pass":
            taken = not each.lines or await self._tell(b"".join(each.lines))
            self._end_sent(each, taken, sum(map(len, each.lines)))
        else:
            await self._say(each, step)

    # ---- what the trial says

    async def _follow(
        self, each: _Open, step: Step, go_on: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Go on after the holds of a step; other messages pass meanwhile."""
        if not step.hold_s:
            await self._safely(each, go_on)
        else:
            each.hold_began = self._clock.now()
            each.hold = self._begin_task(self._hold(each, step, go_on))

    async def _hold(
        self, each: _Open, step: Step, go_on: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        for seconds in step.hold_s:
            await asyncio.sleep(seconds)
        self._end_hold(each)

        async def hold() -> None:
            self._trial.hold_ended(each.number)
            await go_on()

        await self._safely(each, hold)

    def _end_hold(self, each: _Open) -> None:
        each.held_s += self._clock.now() - each.hold_began
        each.hold = None

    async def _safely(self, each: _Open, go_on: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await go_on()
        except TrialGone as reason:
            await self._lose(each, reason)

    async def _say(self, each: _Open, step: Step) -> None:
        """Send the client what is not the server's message."""
        if step.then == "end":
            self._end(each, "aborted", "WAREX ended the server", arrived=True)
            self._crash()
            return
        taken, size = True, 0
        async with self._speaking:
            for number, piece in enumerate(step.pieces):
                if number and step.pause_s:
                    await asyncio.sleep(step.pause_s)
                    each.held_s += step.pause_s
                taken = await self._client.write(piece)
                size += len(piece) if taken else 0
        if step.is_cut and taken:
            self._end(each, "aborted", None, arrived=True, head_sent=True, response_bytes=size)
            self._crash()
        else:
            self._end_sent(each, taken, size)

    async def _tell(self, data: bytes) -> bool:
        async with self._speaking:
            return await self._client.write(data)

    # ---- the ends

    def _give_up(self, each: _Open, why: str) -> None:
        """End an exchange whose answer the client does not want any more."""
        self._end(each, "client_left", why, left_while_held=each.hold is not None)

    def _end_sent(self, each: _Open, taken: bool, size: int) -> None:
        if taken:
            self._end(each, "complete", None, arrived=True, head_sent=True, response_bytes=size)
        else:
            self._end(each, "client_left", "the client has gone")

    def _end(self, each: _Open, end: _End, why: str | None, **facts: Any) -> None:
        if each.is_over:
            return
        if each.hold is not None:
            each.hold.cancel()
            self._end_hold(each)
        self._forget(each)
        timings = {
            "started": each.began,
            "request_complete": each.sent_at,
            "response_started": each.answered_at,
            "ended": self._clock.wall(),
        }
        outcome = {"end": end, "error": why, "held_s": each.held_s, "request_bytes": each.size}
        try:
            self._trial.ended(each.number, {**outcome, **facts, "timings": timings})
        except TrialGone as reason:
            self._notice(str(reason))

    def _forget(self, each: _Open) -> None:
        each.is_over = True
        self._open.pop(each.number, None)
        for key in each.awaited:
            if self._by_key.get(key) is each:
                del self._by_key[key]

    async def _lose(self, each: _Open, reason: TrialGone) -> None:
        self._forget(each)
        await self._refuse(each.requests, reason)

    async def _refuse(self, requests: tuple[McpRequest, ...], reason: TrialGone) -> None:
        """Answer requests of which no trial knows, since nothing may pass undecided."""
        self._notice(str(reason))
        refusal = error(INTERNAL_ERROR, f"WAREX: {reason}")
        for message in answers_to(requests, lambda _: refusal):
            await self._tell(message + b"\n")

    async def wait_for_holds(self) -> None:
        """Wait for the answers that are held."""
        while holds := [each.hold for each in self._open.values() if each.hold is not None]:
            await asyncio.wait(holds)

    def finish(self) -> None:
        """End what is open, since the server has ended."""
        for each in list(self._open.values()):
            if each.hold is not None:
                self._give_up(each, "the server was ended")
            else:
                self._end(each, "site_failed", "the server ended before it answered")
