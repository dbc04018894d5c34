"""Which requests of a recording a scenario would have hit.

The recording is played through the injector in its order and at its times. A HAR shows which
requests waited for a lookup, a connection or TLS; a trial has the lookups, each connection's first
request, and the connection tries that failed. The result does not tell what the agent would have
done after a fault.
"""

import hashlib
import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from warex import mcp
from warex.errors import TraceError
from warex.exchange import Exchange, Request, Resource, Response, resource_of
from warex.faults import ConnectionPhase, Stage
from warex.llm import LLM_APIS, LlmRequest, could_be_llm, recognise
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.browser_origin import is_browser_request, is_site_request
from warex.mcp import McpRequest
from warex.mcp.exchange import McpExchange
from warex.scenarios.injection.injector import Injector
from warex.scenarios.injection.planner import Decision
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

_ARMS: Final[Mapping[str, Arm]] = {
    "start": "start",
    "first_page": "first_page",
    "first_llm_call": "first_llm_call",
}
_FAMILIES: Final = frozenset(family.name for family in LLM_APIS)
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


@dataclass(frozen=True, slots=True)
class _Asked:
    exchange: Exchange
    llm: str | None = None
    """Identifies a call to the model; None for other requests."""
    repeat: bool = False
    """Whether this is the browser's silent repeat."""
    task: str = ""

    @property
    def of_agent(self) -> bool:
        """Whether the request goes to a model or an MCP server."""
        return self.llm is not None or isinstance(self.exchange, McpExchange)


@dataclass(frozen=True, slots=True)
class _Tried:
    """A connection try."""

    point: ConnectionPhase
    host: str
    port: int | None


@dataclass(frozen=True, slots=True)
class _Answered:
    exchange_id: str
    response: Response | None


@dataclass(frozen=True, slots=True)
class _Began:
    """A task began, with its own seed."""

    seed: int
    task: str = ""
    is_beside: bool = False
    """Whether it runs concurrently with others."""


@dataclass(frozen=True, slots=True)
class _Arming:
    armed: bool
    task: str = ""


type _Moment = _Tried | _Asked | _Answered | _Began | _Arming


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
    injector = Injector(scenario, seed or 0, sites=sites)
    return tuple(_play(injector, _har_moments(read_har(path))))


def _against_trial(
    scenario: Scenario, path: Path, seed: int | None, sites: tuple[str, ...]
) -> tuple[Hit, ...]:
    entries = tuple(iter_trace(path))
    began = next((e.event for e in entries if isinstance(e.event, TrialBegan)), None)
    if began is None:
        raise TraceError(f"{path} has no trial_began event, so it is no trial's trace")
    injector = Injector(
        scenario,
        began.seed if seed is None else seed,
        sites=sites or began.sites,
        never=began.never,
        arm=scenario.arm or _ARMS.get(began.arm),
    )
    return tuple(_play(injector, _trial_moments(entries)))


def _play(injector: Injector, moments: Iterable[tuple[float, _Moment]]) -> Iterator[Hit]:
    number = 0
    main, beside = injector, dict[str, Injector]()
    asked: dict[str, tuple[int, _Asked]] = {}
    for now, moment in moments:
        match moment:
            case _Tried(point, host, port):
                decision = main.connection_try(point, host, port, now)
                url = main.connection_url(point, host, port)
                attempt = Exchange("", Request("CONNECT", url))
                yield from _hits(main, decision, attempt, number + 1, now, "other")
            case _Asked(exchange, llm):
                number += 1
                if moment.repeat:
                    continue
                asked[exchange.id] = (number, moment)
                injector = beside.get(moment.task, main)
                if llm is not None:
                    injector.llm_call(llm)
                if isinstance(exchange, LlmExchange):
                    exchange = replace(exchange, step=injector.steps)
                    asked[exchange.id] = (number, replace(moment, exchange=exchange))
                decision = injector.request(exchange, now, llm=moment.of_agent)
                yield from _hits(injector, decision, exchange, number, now)
            case _Answered(exchange_id, response) if exchange_id in asked:
                place, question = asked.pop(exchange_id)
                injector = beside.get(question.task, main)
                if response is not None:
                    exchange = replace(question.exchange, response=response)
                    decision = injector.response(exchange, now, llm=question.of_agent)
                    yield from _hits(injector, decision, exchange, place, now)
                injector.finish(exchange_id)
            case _Began(seed, task, is_beside=True):
                beside[task] = main.for_concurrent_task(seed)
            case _Began(seed, task):
                beside.pop(task, None)
                main.begin_task(seed)
            case _Arming(armed, task):
                injector = beside.get(task, main)
                (injector.arm if armed else injector.disarm)()
            case _Answered():
                # Its request is a silent repeat or precedes the trace.
                pass


def _hits(
    injector: Injector,
    decision: Decision,
    exchange: Exchange,
    number: int,
    now: float,
    resource: Resource | None = None,
) -> Iterator[Hit]:
    for injection in (*decision.injections, *decision.superseded):
        superseded = injection in decision.superseded
        injector.settle(injection, delivered=not superseded)
        yield Hit(
            number=number,
            at=now,
            method=exchange.request.method,
            url=exchange.request.url,
            resource=resource or resource_of(exchange.request, exchange.response),
            rule=injection.rule,
            ordinal=injection.ordinal,
            stage=injection.stage,
            superseded=superseded,
        )


def _har_moments(entries: Iterable[HarEntry]) -> Iterator[tuple[float, _Moment]]:
    moments: list[tuple[float, int, _Moment]] = []
    places: set[tuple[str, int]] = set()
    for index, entry in enumerate(entries):
        path = urlsplit(entry.request.url).path
        request = _with_resource(entry.request, entry.resource)
        body = entry.body.encode(errors="replace")
        host = urlsplit(entry.request.url).hostname or ""
        of_site = is_site_request(host, request.headers)
        call = None if of_site else recognise(request.method, path, "", body)
        exchange = Exchange(f"har{index}", request)
        messages = mcp.read_messages(body) if request.method == "POST" else []
        by_agent = mcp.is_mcp(messages, request.headers) and not is_browser_request(request.headers)
        if by_agent or _is_stream_of_tools(request):
            requests = tuple(mcp.requests(messages))
            asked = _Asked(McpExchange(exchange.id, request, mcp_requests=requests))
        elif call is None:
            is_llm = could_be_llm(request.method, path) and not of_site
            asked = _Asked(exchange, hashlib.sha256(body).hexdigest() if is_llm else None)
        else:
            asked = _Asked(LlmExchange(exchange.id, request, llm_request=call), call.body_digest)
        place = _place(entry.request.url)
        reached = entry.reached
        if reached is None:
            # Without phases, the first request to a site opened its connection.
            reached = () if place in places else _needed(entry.request.url)
        if place is not None:
            places.add(place)
            for order, point in enumerate(reached):
                moments.append((entry.at, 5 * index + order, _Tried(point, *place)))
        moments.append((entry.at, 5 * index + 3, asked))
        answered = _Answered(f"har{index}", entry.response)
        moments.append((entry.at + entry.seconds, 5 * index + 4, answered))
    heapq.heapify(moments)
    while moments:
        at, _, moment = heapq.heappop(moments)
        yield at, moment


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


def _tools_asked(request: Request, said: Iterable[McpCall]) -> tuple[McpRequest, ...] | None:
    """Return the MCP requests of a trial's request; None if it has none."""
    asked = tuple(McpRequest(call.id, None, call.method, {"name": call.tool}) for call in said)
    if asked or mcp.session_id(request.headers):
        return asked
    return asked if _is_stream_of_tools(request) else None


def _is_stream_of_tools(request: Request) -> bool:
    opens = mcp.opens_stream(request.method, request.headers) and not is_browser_request(
        request.headers
    )
    return opens and mcp.is_stream_of_tools(request.url, request.headers)


def _place(url: str) -> tuple[str, int] | None:
    """Return host and port of a URL; None if it has none."""
    parts = Request("", url).parts
    try:
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    return parts.hostname, port or (443 if parts.scheme in ("https", "wss") else 80)


def _needed(url: str) -> tuple[ConnectionPhase, ...]:
    """Return the connection phases before a request for a URL."""
    if url.lower().startswith(("https:", "wss:")):
        return ("name", "connect", "tls")
    return ("name", "connect")


def _trial_moments(entries: Iterable[Entry]) -> Iterator[tuple[float, _Moment]]:
    entries = tuple(entries)
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
                yield entry.t, _Tried("name", name, None)
            case FaultPlanned(point="connect" | "tls" as failed, url=url) if place := _place(url):
                # A failed try has no request.
                yield entry.t, _Tried(failed, *place)
            case RequestSeen() as event:
                place = _place(event.url)
                if place is not None and (event.connection, place) not in connections:
                    connections.add((event.connection, place))
                    for point in _needed(event.url)[names:]:
                        yield entry.t, _Tried(point, *place)
                headers = dict(event.headers)
                request = _with_resource(Request(event.method, event.url, headers), event.resource)
                exchange = Exchange(event.exchange, request)
                call = calls.get(event.exchange)
                if call is not None and call.family in _FAMILIES:
                    exchange = LlmExchange(exchange.id, request, llm_request=_asked(call))
                asked = _tools_asked(request, tools.get(event.exchange, ()))
                if asked is not None:
                    exchange = McpExchange(exchange.id, request, mcp_requests=asked)
                step = None if call is None else str(call.step)
                yield entry.t, _Asked(exchange, step, event.repeat_of is not None, event.task)
            case ResponseSeen() as event:
                # An answer of ours hides the site's.
                by_site = event.by in ("site", "cache") and event.status is not None
                response = Response(event.status or 0, dict(event.headers)) if by_site else None
                yield entry.t, _Answered(event.exchange, response)
            case TaskBegan(task=name, seed=seed) as event:
                yield entry.t, _Began(seed, name, event.beside)
            case Armed(by="control"):
                yield entry.t, _Arming(True)
            case Disarmed(task=task):
                yield entry.t, _Arming(False, task)


def _with_resource(request: Request, resource: str) -> Request:
    if "sec-fetch-dest" in request.headers or resource not in _DESTINATION:
        return request
    headers = {**request.headers, "sec-fetch-dest": _DESTINATION[resource]}
    return replace(request, headers=headers)
