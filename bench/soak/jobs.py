"""The requests of a soak, drawn from a seed so that a run can be repeated. Pure."""

import random  # noqa: TID251  (Of this run, not of a trial.)
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.workspace import HOST
from warex.faults import AnyFault
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.network_error import NetworkError
from warex.faults.scripts.javascript_failure import JavascriptFailure
from warex.faults.server.http_error import HttpError
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.scenarios.scenario import Random

type Protocol = Literal["http/1.1", "h2", "websocket"]
type Kind = Literal["page", "chunked", "big", "late", "post", "reset", "half"]
type Act = Literal["read", "slow", "leave", "leave_at_once", "leave_unread"]

BIG = 1 << 20
"""Bytes of a large body."""
SMALL = 2000
NO_FAULTS = "calm"
"""The part of the site that no rule matches."""
PROBABILITIES = {
    "error-before": 0.2,
    "error-after": 0.1,
    "error-per-url": 0.15,
    "network-error": 0.1,
    "cut": 0.05,
    "scripts": 0.3,
}
"""The probability of each random rule, which matches the part of the site with its name."""
_PER_URL = 100
"""The number of URLs of the part ``error-per-url``."""

KINDS: dict[Kind, int] = {
    "page": 700,
    "chunked": 100,
    "post": 100,
    "late": 20,
    "reset": 10,
    "half": 10,
    "big": 5,
}
_ACTS: dict[Act, int] = {"read": 960, "leave": 15, "leave_at_once": 15, "slow": 10}
_PARTS = {NO_FAULTS: 10} | dict.fromkeys(PROBABILITIES, 2)
_MESSAGE_SIZES = (5, 200, 2000, 60_000)


def scenario() -> Scenario:
    """Return rules with random triggers, each for one part of the site."""
    faults: dict[str, AnyFault] = {
        "error-before": HttpError(status=503),
        "error-after": HttpError(status=500, stage="response"),
        "error-per-url": HttpError(status=502),
        "network-error": NetworkError(delay=0.02),
        "cut": ConnectionCut(),
        "scripts": JavascriptFailure(delay=0.02),
    }
    return Scenario(
        name="soak",
        rules=tuple(
            Rule(
                name=name,
                match=Match(url=f"https://{HOST}:*/{name}/*"),
                trigger=_trigger(name, probability),
                per="url" if name == "error-per-url" else "rule",
                fault=faults[name],
            )
            for name, probability in PROBABILITIES.items()
        ),
    )


def _trigger(name: str, probability: float) -> Trigger:
    if name == "error-before":
        return Trigger(random=Random(times=10**9, probability=probability))
    return Trigger(probability=probability)


@dataclass(frozen=True, slots=True)
class Job:
    """One request, and how its client handles the answer."""

    number: int
    """Makes the path unique, except in the part ``error-per-url``."""
    part: str
    kind: Kind
    act: Act

    @property
    def method(self) -> str:
        """POST if it has a body, else GET."""
        return "POST" if self.kind == "post" else "GET"

    @property
    def path(self) -> str:
        """The path, which tells the site how to answer."""
        return f"/{self.part}/{self.kind}/{self.number}{'.js' if self.part == 'scripts' else ''}"

    @property
    def body(self) -> bytes:
        """The request's body."""
        return b"%d." % self.number * 20 if self.kind == "post" else b""


@dataclass(frozen=True, slots=True)
class Session:
    """The requests or messages of one connection."""

    number: int
    protocol: Protocol
    jobs: tuple[Job, ...] = ()
    messages: tuple[int, ...] = ()
    """Sizes of a WebSocket's messages."""
    unread: bool = False
    """HTTP/2: the client's windows stay at 0, so no byte of a body can arrive."""
    closes: bool = True
    """Whether a WebSocket's client sends a close frame."""


def sessions(seed: int, first: int, requests: int) -> Iterator[Session]:
    """Draw sessions with ``requests`` requests and messages, numbered from ``first``."""
    rng = random.Random(f"{seed} {first}")
    number = first
    while (left := first + requests - number) > 0:
        protocol: Protocol = rng.choices(("http/1.1", "h2", "websocket"), (45, 45, 10))[0]
        size = min(left, rng.randint(1, 40))
        if protocol == "websocket":
            messages = tuple(rng.choices(_MESSAGE_SIZES, (40, 40, 19, 1), k=size))
            yield Session(number, protocol, messages=messages, closes=rng.random() < 0.8)
        else:
            unread = protocol == "h2" and rng.random() < 0.05
            jobs = tuple(_job(rng, number + n, unread=unread) for n in range(size))
            yield Session(number, protocol, jobs, unread=unread)
        number += size


def _job(rng: random.Random, number: int, *, unread: bool) -> Job:
    part = _draw(rng, _PARTS)
    act: Act = "leave_unread" if unread else _draw(rng, _ACTS)
    if part == "error-per-url":
        # Requested often, so never a kind that fails: a browser would repeat it silently.
        return Job(number % _PER_URL, part, "page", act)
    return Job(number, part, _draw(rng, KINDS), act)


def _draw[T: str](rng: random.Random, weights: dict[T, int]) -> T:
    return rng.choices(list(weights), list(weights.values()))[0]


def bodies(job: Job) -> Sequence[bytes]:
    """Return the body of the site's answer, in the pieces in which it is sent."""
    marked = b"<p>%d</p>" % job.number
    match job.kind:
        case "big":
            return [bytes(BIG)]
        case "chunked" | "late":
            return [marked, bytes(SMALL // 2), bytes(SMALL // 2)]
        case "post":
            return [job.body]
        case _:
            return [marked + bytes(SMALL)]
