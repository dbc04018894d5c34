"""What is asked for in a soak: drawn from a seed, so that a run can be repeated. Pure."""

import random  # noqa: TID251  (Of this run, not of a trial.)
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.workspace import HOST
from warex.faults import AnyFault, ConnectionCut, HttpError, JavascriptFailure, NetworkError
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.scenarios.scenario import Random

type Protocol = Literal["http/1.1", "h2", "websocket"]
type Kind = Literal["page", "chunked", "big", "late", "post", "reset", "half"]
type Act = Literal["read", "slow", "leave", "leave_at_once", "leave_unread"]

BIG = 1 << 20
"""Bytes of a large body."""
SMALL = 2000
CALM = "calm"
"""The part of the site that no rule is about."""
PROBABILITIES = {
    "error-before": 0.2,
    "error-after": 0.1,
    "error-per-url": 0.15,
    "network-error": 0.1,
    "cut": 0.05,
    "scripts": 0.3,
}
"""Of each random rule; the rule is about the part of the site of the same name."""
_PER_URL = 100
"""How many addresses the part has that is numbered by address."""

_KINDS: dict[Kind, int] = {
    "page": 700,
    "chunked": 100,
    "post": 100,
    "late": 20,
    "reset": 10,
    "half": 10,
    "big": 5,
}
_ACTS: dict[Act, int] = {"read": 960, "leave": 15, "leave_at_once": 15, "slow": 10}
_PARTS = {CALM: 10} | dict.fromkeys(PROBABILITIES, 2)
_MESSAGE_SIZES = (5, 200, 2000, 60_000)


def scenario() -> Scenario:
    """Return several rules with random triggers, each about a part of the site."""
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
    """One request, and what its client does about the answer."""

    number: int
    """Names it: its path is asked for once, but in the part that is numbered by address."""
    part: str
    kind: Kind
    act: Act

    @property
    def method(self) -> str:
        """POST where it has a body."""
        return "POST" if self.kind == "post" else "GET"

    @property
    def path(self) -> str:
        """Which says what the site is to do."""
        return f"/{self.part}/{self.kind}/{self.number}{'.js' if self.part == 'scripts' else ''}"

    @property
    def body(self) -> bytes:
        """What is posted."""
        return b"%d." % self.number * 20 if self.kind == "post" else b""


@dataclass(frozen=True, slots=True)
class Session:
    """What happens on one connection."""

    number: int
    protocol: Protocol
    jobs: tuple[Job, ...] = ()
    messages: tuple[int, ...] = ()
    """Sizes of a WebSocket's messages."""
    unread: bool = False
    """HTTP/2: the client's windows stay shut, and no byte of a body can come."""
    closes: bool = True
    """A WebSocket's client says that it goes."""


def sessions(seed: int, first: int, requests: int) -> Iterator[Session]:
    """Draw sessions of so many requests and messages; ``first`` numbers the first of them."""
    drawn = random.Random(f"{seed} {first}")
    number = first
    while (left := first + requests - number) > 0:
        protocol: Protocol = drawn.choices(("http/1.1", "h2", "websocket"), (45, 45, 10))[0]
        size = min(left, drawn.randint(1, 40))
        if protocol == "websocket":
            messages = tuple(drawn.choices(_MESSAGE_SIZES, (40, 40, 19, 1), k=size))
            yield Session(number, protocol, messages=messages, closes=drawn.random() < 0.8)
        else:
            unread = protocol == "h2" and drawn.random() < 0.05
            jobs = tuple(_job(drawn, number + n, unread=unread) for n in range(size))
            yield Session(number, protocol, jobs, unread=unread)
        number += size


def _job(drawn: random.Random, number: int, *, unread: bool) -> Job:
    part = _one(drawn, _PARTS)
    act: Act = "leave_unread" if unread else _one(drawn, _ACTS)
    if part == "error-per-url":
        # Asked for often, so never one that fails: a browser would repeat that in silence.
        return Job(number % _PER_URL, part, "page", act)
    return Job(number, part, _one(drawn, _KINDS), act)


def _one[T: str](drawn: random.Random, weights: dict[T, int]) -> T:
    return drawn.choices(list(weights), list(weights.values()))[0]


def bodies(job: Job) -> Sequence[bytes]:
    """Return what the site answers, in the pieces in which it sends it."""
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
