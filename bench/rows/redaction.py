"""Processor time of a lane for a model's call that is redacted, and for one that is not.

Two lanes take turns in this process. Only the thread of the lanes is counted.
"""

import asyncio
import json
import ssl
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from http.client import HTTPSConnection
from typing import Any, override

import msgspec

from bench.row import Row
from bench.traffic.load import unverified_context
from bench.traffic.measured_lanes import LOADED, warex_config
from bench.traffic.programs import site
from bench.traffic.streams import CHAT
from bench.turn_order import alternate
from bench.workspace import HOST, Workspace
from warex.proxy.serving import run_lane
from warex.traces import Event
from warex.traces.redaction.event_lines import EventLines

_PAGES = 6
"""Pages that the agent still remembers."""
_LINES = 235
_WARM_UP = 2


def measure(workspace: Workspace) -> list[Row]:
    """Have an agent ask a model again and again: with one page more each time, all new."""
    calls = 4 if workspace.quick else 60
    size = len(conversation(0)) / 1000
    rows = []
    with site("bench.traffic.site", *workspace.tls) as port:
        for name, what, stride in (
            ("redaction", "one page of which is new", 1),
            ("redaction-new", "all of which is new", _PAGES),
        ):
            steps = range(0, stride * (calls + _WARM_UP), stride)
            cost = asyncio.run(_cost(workspace, port, steps))
            rows.append(
                Row(
                    name,
                    f"processor time of a model's call of {size:.0f} kB, {what}, through a lane:"
                    " redacted to not",
                    cost["redacted"] / cost["plain"],
                    "times",
                    1.5,
                    at_least=False,
                    detail=", ".join(f"{each} {cost[each] * 1000:.1f} ms" for each in cost),
                )
            )
    return rows


def conversation(step: int) -> bytes:
    """Return the request of an agent's step: its system prompt, and its last pages and actions."""
    messages = [{"role": "system", "content": "You are a web agent. Answer with one action."}]
    for number in range(step, step + _PAGES):
        messages += [
            {"role": "user", "content": _page(number)},
            {"role": "assistant", "content": f"I open the next one.\nclick('{number % _LINES}')"},
        ]
    return json.dumps({"model": "bench", "stream": True, "messages": messages[:-1]}).encode()


def _page(number: int) -> str:
    kinds = ("link", "button", "textbox", "StaticText")
    lines = [
        f"[{line}] {kinds[line % 4]} 'Offer {number * _LINES + line}, {line * 7 % 90}.90 euros'"
        for line in range(_LINES)
    ]
    return "\n".join([f"URL: https://shop.example/offers?page={number}", *lines])


class PlainLines(EventLines):
    """Writes events as they are."""

    @override
    def of(self, event: Event) -> str:
        return msgspec.json.encode(event).decode()


async def _cost(workspace: Workspace, port: int, steps: Sequence[int]) -> dict[str, float]:
    """Return the seconds of a call, by lane."""
    first, measured = steps[:_WARM_UP], steps[_WARM_UP:]
    async with AsyncExitStack() as stack:
        clients: dict[str, HTTPSConnection] = {}
        for name in ("redacted", "plain"):
            lane = await stack.enter_async_context(run_lane(warex_config(workspace, LOADED)))
            if name == "plain":
                writer: Any = lane.recorder.writer
                writer.lines = PlainLines(writer.redactor)
            clients[name] = _client(lane.port, port)
            stack.callback(clients[name].close)
            await asyncio.to_thread(_ask, clients[name], first)
        used = dict.fromkeys(clients, 0.0)
        for step, order in zip(measured, alternate(list(clients), len(measured)), strict=True):
            for name in order:
                before = time.thread_time()
                await asyncio.to_thread(_ask, clients[name], (step,))
                used[name] += time.thread_time() - before
    return {name: seconds / len(measured) for name, seconds in used.items()}


def _client(lane: int, port: int) -> HTTPSConnection:
    context: ssl.SSLContext = unverified_context()
    client = HTTPSConnection("127.0.0.1", lane, context=context)
    client.set_tunnel(HOST, port)
    return client


def _ask(client: HTTPSConnection, steps: Sequence[int]) -> None:
    for step in steps:
        client.request("POST", CHAT, conversation(step), {"Content-Type": "application/json"})
        answer = client.getresponse().read()
        if b"[DONE]" not in answer:
            raise ConnectionError(f"this is not a model's answer: {answer[:200]!r}")
