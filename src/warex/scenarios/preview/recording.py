"""Which requests of a recording a scenario would have hit.

The recording is played through the injector in its order and at its times. A HAR shows which
requests waited for a lookup, a connection or TLS; a trial has the lookups, each connection's first
request, and the connection tries that failed. The result does not tell what the agent would have
done after a fault.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, get_args
from urllib.parse import urlsplit

from msgspec.structs import replace

from warex import mcp
from warex.errors import TraceError
from warex.exchange import Exchange, Request, Resource, Response, Server, resource_of
from warex.faults import ConnectionPhase, Stage
from warex.llm import LlmRequest, could_be_llm, recognise
from warex.llm.exchange import LlmExchange
from warex.llm.families import api_names
from warex.llm.recognition.browser_origin import is_browser_request, is_site_request
from warex.mcp import McpRequest
from warex.mcp.exchange import STDIO, McpExchange
from warex.scenarios.injection.injector import Injector
from warex.scenarios.injection.planner import Decision
from warex.scenarios.origins import ConnectionTarget
from warex.scenarios.preview.har import HarEntry, read_har
from warex.scenarios.scenario import Scenario
from warex.traces import (
    EVENTS,
    Armed,
    Disarmed,
    Dns,
    Entry,
    FaultPlanned,
    LlmCall,
    McpCall,
    RequestSeen,
    ResponseSeen,
    TaskBegan,
    TrialBegan,
    iter_trace,
)
from warex.traffic import Arm

_ARMS: Final[Mapping[str, Arm]] = {arm: arm for arm in get_args(Arm.__value__)}
# Fetch Metadata for recordings with the resource but without the header.
_DESTINATION: Final[Mapping[str, str]] = {
    "document": "document",
    "script": "script",
    "stylesheet": "style",
    "image": "image",
    "font": "font",
    "xhr": "empty",
    "websocket": "websocket",
    "media": "video",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """One request or connection try of the recording that a rule would have hit."""

    number: int
    """The request's number in the recording, from 1; for a connection try the next request's."""
    at: float
    """Seconds since the recording's beginning."""
    method: str
    url: str
    resource: Resource
    rule: str
    ordinal: int
    """Its number in the rule's count, from 1."""
    stage: Stage
    superseded: bool
    """Planned, but missed: an earlier rule already ends the exchange."""
    not_streamed: bool = False
    """Planned, but missed: the fault is about a model's stream, and none was asked for."""


def hits_in_recording(
    scenario: Scenario, path: Path, seed: int | None = None, sites: tuple[str, ...] = ()
) -> tuple[Hit, ...]:
    """Return the hits of the scenario, in order.

    ``path`` is a HAR file, a trial's folder or its ``events.jsonl``. ``seed`` and ``sites`` default
    to those of the trial, or for a HAR to 0 and none. Steps are the recording's calls to a model.
    Raises TraceError if the recording cannot be read.
    """
    if path.is_dir() or path.suffix == ".jsonl":
        return _against_trial(scenario, path / EVENTS if path.is_dir() else path, seed, sites)
    player = _Player(Injector(scenario, seed or 0, sites=sites))
    _play_har(player, read_har(path))
    return tuple(player.hits)


def _against_trial(
    scenario: Scenario, path: Path, seed: int | None, sites: tuple[str, ...]
) -> tuple[Hit, ...]:
    entries = tuple(iter_trace(path))
    began = next((e.event for e in entries if isinstance(e.event, TrialBegan)), None)
    if began is None:
        raise TraceError(f"{path} has no trial_began event, so it is not a trial's trace")
    injector = Injector(
        scenario,
        began.seed if seed is None else seed,
        sites=sites or began.sites,
        never=began.never,
        arm=scenario.arm or _ARMS.get(began.arm),
    )
    player = _Player(injector)
    _play_trial(player, entries)
    return tuple(player.hits)


class _Player:
    """Plays what a recording holds, in order, through an injector."""

    def __init__(self, injector: Injector) -> None:
        self.hits: list[Hit] = []
        self._main = injector
        self._concurrent: dict[str, Injector] = {}
        self._open: dict[str, tuple[int, Exchange, str]] = {}
        """The exchanges under way: number, exchange, task."""
        self._number = 0

    def injector(self, task: str) -> Injector:
        """Return the injector of a task."""
        return self._concurrent.get(task, self._main)

    def connect(self, now: float, point: ConnectionPhase, host: str, port: int | None) -> None:
        """Try a connection."""
        target = ConnectionTarget.of(point, host, port)
        decision = self._main.connections.judge(target, now)
        connect = Exchange("", Request("CONNECT", self._main.connections.url_of(target)))
        self._add(self._main, decision, connect, self._number + 1, now, "other")

    def ask(self, now: float, exchange: Exchange, llm: str | None = None, task: str = "") -> None:
        """Send a request; ``llm`` identifies a call to the model."""
        self._number += 1
        injector = self.injector(task)
        if llm is not None:
            injector.llm_call(llm)
        if isinstance(exchange, LlmExchange):
            exchange = replace(exchange, step=injector.arming.steps)
        self._open[exchange.id] = (self._number, exchange, task)
        decision = injector.request(exchange, now)
        self._add(injector, decision, exchange, self._number, now)

    def repeat(self) -> None:
        """Pass over the browser's silent repeat of a request."""
        self._number += 1

    def answer(self, now: float, exchange_id: str, response: Response | None) -> None:
        """Answer a request, unless it is a silent repeat or precedes the recording."""
        if exchange_id not in self._open:
            return
        number, exchange, task = self._open.pop(exchange_id)
        injector = self.injector(task)
        if response is not None:
            exchange = replace(exchange, response=response)
            decision = injector.response(exchange, now)
            self._add(injector, decision, exchange, number, now)
        injector.finish(exchange_id)

    def begin_task(self, seed: int, task: str, *, concurrent: bool) -> None:
        """Begin a task, with its own seed."""
        if concurrent:
            self._concurrent[task] = self._main.for_concurrent_task(seed)
        else:
            self._concurrent.pop(task, None)
            self._main.begin_task(seed)

    def _add(
        self,
        injector: Injector,
        decision: Decision,
        exchange: Exchange,
        number: int,
        now: float,
        resource: Resource | None = None,
    ) -> None:
        for injection in (*decision.injections, *decision.superseded):
            superseded = injection in decision.superseded
            injection.settle(delivered=not superseded)
            asked = exchange.llm_request if isinstance(exchange, LlmExchange) else None
            streams = asked is None or asked.stream
            hit = Hit(
                number=number,
                at=now,
                method=exchange.request.method,
                url=exchange.request.url,
                resource=resource or resource_of(exchange.request, exchange.response),
                rule=injection.rule,
                ordinal=injection.ordinal,
                stage=injection.stage,
                superseded=superseded,
                not_streamed=injection.fault.needs_stream and not streams,
            )
            self.hits.append(hit)


def _play_har(player: _Player, entries: Iterable[HarEntry]) -> None:
    moments: list[tuple[float, int, Callable[[], None]]] = []
    places: set[tuple[str, int]] = set()
    for index, entry in enumerate(entries):
        path = urlsplit(entry.request.url).path
        request = _with_resource(entry.request, entry.resource)
        body = entry.body.encode(errors="replace")
        host = urlsplit(entry.request.url).hostname or ""
        of_site = is_site_request(host, request.headers)
        call = None if of_site else recognise(request.method, path, "", body)
        exchange = Exchange(f"har{index}", request)
        llm: str | None = None
        messages = mcp.read_messages(body) if request.method == "POST" else []
        by_agent = mcp.is_mcp(messages, request.headers) and not is_browser_request(request.headers)
        if by_agent or _is_stream_of_tools(request):
            requests = tuple(mcp.requests(messages))
            exchange = McpExchange(exchange.id, request, mcp_requests=requests)
        elif call is not None:
            exchange, llm = LlmExchange(exchange.id, request, llm_request=call), call.body_digest
        elif could_be_llm(request.method, path) and not of_site:
            exchange, llm = replace(exchange, server="llm"), hashlib.sha256(body).hexdigest()
        place = _place(entry.request.url)
        reached = entry.reached
        if reached is None:
            # Without phases, the first request to a site opened its connection.
            reached = () if place in places else _needed(entry.request.url)
        if place is not None:
            places.add(place)
            for order, point in enumerate(reached):
                connect = partial(player.connect, entry.at, point, *place)
                moments.append((entry.at, 5 * index + order, connect))
        moments.append((entry.at, 5 * index + 3, partial(player.ask, entry.at, exchange, llm)))
        end = entry.at + entry.seconds
        answer = partial(player.answer, end, exchange.id, entry.response)
        moments.append((end, 5 * index + 4, answer))
    for _, _, play in sorted(moments, key=lambda moment: moment[:2]):
        play()


def _asked(call: LlmCall) -> LlmRequest:
    """Return a trial's call as a match sees it."""
    return LlmRequest(
        api=call.family,
        model=call.model_asked or call.model,
        messages=[],
        tools=[],
        stream=call.stream,
        body_digest=str(call.step),
    )


def _tools_asked(request: Request, calls: Iterable[McpCall]) -> tuple[McpRequest, ...] | None:
    """Return the MCP requests of a trial's request; None if it has none."""
    asked = tuple(McpRequest(call.id, None, call.method, {"name": call.tool}) for call in calls)
    of_tools = asked or mcp.session_id(request.headers) or _is_stream_of_tools(request)
    return asked if of_tools else None


def _is_stream_of_tools(request: Request) -> bool:
    opens = mcp.opens_stream(request.method, request.headers) and not is_browser_request(
        request.headers
    )
    return opens and mcp.is_stream_of_tools(request.url, request.headers)


def _place(url: str) -> tuple[str, int] | None:
    """Return the host and port to which a connection is made for a URL; None for none."""
    parts = Request("", url).parts
    try:
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname or parts.scheme == STDIO:
        return None
    return parts.hostname, port or (443 if parts.scheme in ("https", "wss") else 80)


def _needed(url: str) -> tuple[ConnectionPhase, ...]:
    """Return the connection phases before a request for a URL."""
    if url.lower().startswith(("https:", "wss:")):
        return ("name", "connect", "tls")
    return ("name", "connect")


def _play_trial(player: _Player, entries: Sequence[Entry]) -> None:
    # A call's event is written at its end, but the step began with its request.
    calls = {e.event.exchange: e.event for e in entries if isinstance(e.event, LlmCall)}
    tools: dict[str, list[McpCall]] = {}
    for entry in entries:
        if isinstance(entry.event, McpCall):
            tools.setdefault(entry.event.exchange, []).append(entry.event)
    connections: set[tuple[str, tuple[str, int]]] = set()
    names = any(isinstance(entry.event, Dns) for entry in entries)
    for entry in entries:
        match entry.event:
            case Dns(name=name):
                player.connect(entry.t, "name", name, None)
            case FaultPlanned(point="connect" | "tls" as failed, url=url) if place := _place(url):
                # A failed try has no request.
                player.connect(entry.t, failed, *place)
            case RequestSeen() as event:
                place = _place(event.url)
                if place is not None and (event.connection, place) not in connections:
                    connections.add((event.connection, place))
                    for point in _needed(event.url)[names:]:
                        player.connect(entry.t, point, *place)
                if event.repeat_of is not None:
                    player.repeat()
                    continue
                headers = dict(event.headers)
                request = _with_resource(Request(event.method, event.url, headers), event.resource)
                call = calls.get(event.exchange)
                server: Server = "site" if call is None else "llm"
                exchange = Exchange(event.exchange, request, server=server)
                if call is not None and call.family in api_names():
                    exchange = LlmExchange(exchange.id, request, llm_request=_asked(call))
                asked = _tools_asked(request, tools.get(event.exchange, ()))
                if asked is not None:
                    exchange = McpExchange(exchange.id, request, mcp_requests=asked)
                step = None if call is None else str(call.step)
                player.ask(entry.t, exchange, step, event.task)
            case ResponseSeen() as event:
                # An answer of ours hides the site's.
                by_site = event.by in ("site", "cache") and event.status is not None
                response = Response(event.status or 0, dict(event.headers)) if by_site else None
                player.answer(entry.t, event.exchange, response)
            case TaskBegan() as event:
                player.begin_task(event.seed, event.task, concurrent=event.beside)
            case Armed(by="control"):
                player.injector("").arming.arm()
            case Disarmed(task=task):
                player.injector(task).arming.disarm()


def _with_resource(request: Request, resource: str) -> Request:
    if "sec-fetch-dest" in request.headers or resource not in _DESTINATION:
        return request
    headers = {**request.headers, "sec-fetch-dest": _DESTINATION[resource]}
    return replace(request, headers=headers)
