"""Carries out effects on a live flow, and sees what became of them."""

import asyncio
from dataclasses import dataclass, field
from typing import Final, assert_never

from mitmproxy import http

from warex.clock import Clock
from warex.faults import Cut, Delay, Reply
from warex.proxy.connections import is_waiting, reset
from warex.scenarios import Injection

GAVE_UP_AFTER: Final = 1.0
"""Seconds of a hold after which a client that leaves has met the fault."""


@dataclass(slots=True)
class Struck:
    """What has become of an injection so far."""

    injection: Injection
    waited_s: float = 0.0
    client_left: bool = False
    replied: bool = False
    """A reply is set; only the bytes on the wire will prove it."""
    cut: bool = False
    done: bool = False
    """All effects that end here are done; nothing on the wire is awaited."""

    @property
    def met_by_waiting(self) -> bool:
        """Whether the client gave up after a hold long enough to count."""
        return self.client_left and self.waited_s >= GAVE_UP_AFTER


@dataclass(slots=True)
class Presence:
    """Whether the client of an exchange is still there."""

    left: asyncio.Event = field(default_factory=asyncio.Event)


async def strike(
    injection: Injection, flow: http.HTTPFlow, presence: Presence, clock: Clock
) -> Struck:
    """Do to the flow what the injection's effects say, in order, until the client leaves."""
    struck = Struck(injection)
    for effect in injection.effects:
        match effect:
            case Delay(seconds):
                began = clock.now()
                struck.client_left = await _held(seconds, presence)
                struck.waited_s += clock.now() - began
                if struck.client_left:
                    return struck
            case Reply(status, headers, body):
                if not is_waiting(flow.client_conn):
                    struck.client_left = True
                    return struck
                flow.response = http.Response.make(status, body, dict(headers))
                struck.replied = True
            case Cut(how):
                if not is_waiting(flow.client_conn):
                    struck.client_left = True
                    return struck
                if how == "reset":
                    reset(flow.client_conn)
                flow.kill()
                struck.cut = True
            case _:
                assert_never(effect)
    struck.done = not struck.replied
    return struck


async def _held(seconds: float, presence: Presence) -> bool:
    """Wait, or until the client leaves; return whether it left."""
    try:
        async with asyncio.timeout(seconds):
            await presence.left.wait()
    except TimeoutError:
        return False
    return True
