"""Servers of tools on standard input and output: their messages as exchanges of the trial.

`warex mcp` stands between the client and the server. It asks here, at each step of a message, as
the engine asks a handler at each step of an exchange: a message of the client is a POST, the answer
its response (docs/decisions/0025-tools-over-stdio.md).

    POST /mcp/begin     {"name": NAME}                a server has been started
    POST /mcp/request   ?session=&exchange=  MESSAGE  what becomes of a message of the client
    POST /mcp/held      ?session=&exchange=           the holds of the last step are over
    POST /mcp/answer    ?session=&exchange=  MESSAGE  what becomes of the server's answer
    POST /mcp/whole     ?session=&exchange=           the same, after a hold
    POST /mcp/ended     ?session=&exchange=  OUTCOME  how it has ended
"""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct, field

from warex.engine.handler import (
    Abort,
    Address,
    Connection,
    Exchange,
    ExchangeTimings,
    Handler,
    Outcome,
    Plan,
    ReadWhole,
    Relay,
    Respond,
)
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.exchange import Request
from warex.lane.hosts.own_hosts import TASK_HOST
from warex.lane.stdio.steps import NAME, Step
from warex.lane.tasks import TASK_HEADER, browser_header
from warex.mcp import read_messages, requests
from warex.mcp.changes import INTERNAL_ERROR, answers_to, error

_PATH: Final = "/mcp/"
_FOR_LANE: Final = (TASK_HEADER, "proxy-authorization")
"""Headers of a call that name the task of the messages."""
_OF_PROGRAM: Final = (("user-agent", "warex-mcp"), ("content-type", "application/json"))
"""Headers of each message, by which it counts as a program's request of JSON."""
_ANSWER: Final = ResponseHead(
    200, b"OK", "HTTP/1.1", Headers.of_text((("content-type", "application/json"),))
)
_MOST_SESSIONS: Final = 1000
"""Maximum number of sessions; a further one ends the oldest, since any client can begin some."""
_MOST_OPEN: Final = 20_000
"""Open exchanges of a session."""
_ACCEPTED: Final = ResponseHead(202, b"Accepted", "HTTP/1.1", Headers())


class BadCall(Exception):
    """A call that cannot be answered, with its status."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _Open(Struct):
    """An exchange that has not ended."""

    exchange: Exchange
    may: set[str] = field(default_factory=set)
    """The calls that may follow."""

    def follow(self, step: Step, then: str, call: str) -> Step:
        """Note what may follow a step: ``call``, if it says ``then``."""
        self.may = {"ended"}
        if step.then == then:
            self.may.add(call)
        if step.hold_s:
            self.may.add("held")
        return step


class _Session(Struct):
    """A server that was started."""

    number: int
    name: str
    connection: Connection
    asked_on: Connection
    """The connection of its last call."""
    live: dict[int, _Open] = field(default_factory=dict)
    """Its open exchanges, by the numbers that `warex mcp` gives them."""


class Call(Struct):
    """The state of an exchange that is such a call."""

    request: Request


class StdioSessions:
    """The servers of tools of a trial."""

    def __init__(
        self, handler: Handler, broken: Callable[[], str | None], wall: Callable[[], float]
    ) -> None:
        """``handler`` decides; ``broken`` says why the trial is void, if it is."""
        self._handler, self._broken, self._wall = handler, broken, wall
        self._sessions: dict[int, _Session] = {}
        self._askers: set[Connection] = set()
        """The connections of the sessions' last calls."""
        self._begun = 0

    @staticmethod
    def call_of(request: Request) -> Call | None:
        """Return the call in a request to one of WAREX's own hosts; None for other requests."""
        is_call = request.host == TASK_HOST and request.parts.path.startswith(_PATH)
        return Call(request) if is_call else None

    def plan(self, exchange: Exchange) -> Plan[Respond]:
        """Carry out the call in an exchange; return the plan that answers it."""
        call: Call = exchange.state
        headers, status = exchange.request.headers.by_name, 200
        try:
            self._check(call.request)
            lane_headers = tuple((name, headers[name]) for name in _FOR_LANE if name in headers)
            url, body = call.request.url, exchange.request_body or b""
            answer = self.call(url, body, exchange.connection, lane_headers)
        except BadCall as refusal:
            status, answer = refusal.status, {"error": str(refusal)}
        sent = json.dumps(answer).encode()
        fields = (
            ("content-type", "application/json"),
            ("content-length", str(len(sent))),
            ("cache-control", "no-store"),
        )
        return Plan(Respond(status, Headers.of_text(fields), (sent,)))

    def _check(self, request: Request) -> None:
        if (sign := browser_header(request.headers)) is not None or request.is_preflight:
            raise BadCall(403, f"a browser asks ({sign or 'a preflight'}); `warex mcp` asks here")
        if request.method != "POST":
            raise BadCall(405, f"{request.method} is not allowed here; use POST")

    def call(
        self,
        url: str,
        body: bytes,
        asked_on: Connection,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> dict[str, Any]:
        """Carry out a call; ``headers``: those that name its task. Raises BadCall."""
        if (reason := self._broken()) is not None:
            raise BadCall(503, f"the trial is void: {reason}")
        parts = urlsplit(url)
        name = parts.path.removeprefix(_PATH)
        if name == "begin":
            return {"session": self._begin(body, asked_on)}
        query = dict(parse_qsl(parts.query))
        session = self._sessions.get(_number(query, "session"))
        if session is None:
            raise BadCall(404, "there is no such session")
        self._ask_on(session, asked_on)
        number = _number(query, "exchange")
        if name == "request":
            step = self._request(session, number, body, headers)
        elif (known := session.live.get(number)) is None:
            raise BadCall(404, "there is no such exchange")
        elif name not in known.may:
            raise BadCall(409, f"{name!a} may not follow here, but {', '.join(sorted(known.may))}")
        elif name == "held":
            known.may.discard("held")
            self._handler.hold_ended(known.exchange)
            return {}
        elif name == "answer":
            step = known.follow(self._answer(known.exchange, body), "whole", "whole")
        elif name == "whole":
            step = known.follow(self._complete_answer(known.exchange), "", "")
        else:
            outcome = _outcome(body)
            del session.live[number]
            self._handler.ended(known.exchange, outcome)
            return {}
        if (reason := self._broken()) is not None:
            raise BadCall(503, f"the trial is void: {reason}")
        return step.as_json()

    def disconnected(self, asked_on: Connection) -> None:
        """End the open exchanges of a `warex mcp` that has gone."""
        if asked_on in self._askers:
            self._askers.discard(asked_on)
            for session in self._sessions.values():
                if session.asked_on is asked_on:
                    self._end(session)

    def _end(self, session: _Session) -> None:
        now = self._wall()
        for number in list(session.live):
            timings = ExchangeTimings(started=now, ended=now)
            outcome = Outcome(end="client_left", error="`warex mcp` has ended", timings=timings)
            self._handler.ended(session.live.pop(number).exchange, outcome)

    def _ask_on(self, session: _Session, asked_on: Connection) -> None:
        session.asked_on = asked_on
        self._askers.add(asked_on)

    def _begin(self, body: bytes, asked_on: Connection) -> int:
        try:
            details = json.loads(body)
            name = details["name"]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise BadCall(400, 'the body is to be {"name": NAME}') from None
        if not isinstance(name, str) or re.fullmatch(NAME, name) is None:
            raise BadCall(400, f"name: {name!a} does not match {NAME}")
        if len(self._sessions) >= _MOST_SESSIONS:
            self._end(self._sessions.pop(next(iter(self._sessions))))
        self._begun += 1
        number = self._begun
        # The engine's own connections have positive numbers.
        connection = Connection(-number, Address("stdio", 0))
        self._handler.connected(connection)
        self._sessions[number] = _Session(number, name, connection, asked_on)
        self._askers.add(asked_on)
        return number

    def _request(
        self, session: _Session, number: int, body: bytes, headers: tuple[tuple[str, str], ...]
    ) -> Step:
        if number in session.live:
            raise BadCall(400, f"exchange {number} is open")
        if len(session.live) >= _MOST_OPEN:
            raise BadCall(429, f"{_MOST_OPEN:,} exchanges are open")
        own = (*_OF_PROGRAM, _session_header(session.number))
        fields = Headers.of_text((*own, *headers))
        head = RequestHead("POST", "mcp+stdio", session.name, "/", "HTTP/1.1", fields)
        exchange = Exchange(session.connection, head, body, len(body))
        session.live[number] = known = _Open(exchange)
        self._handler.request_head(exchange)
        plan = self._handler.request(exchange)
        return known.follow(_step(exchange, plan, ()), "pass", "answer")

    def _answer(self, exchange: Exchange, body: bytes) -> Step:
        exchange.response = _ANSWER if body else _ACCEPTED
        exchange.response_body, exchange.response_complete = body, True
        plan = self._handler.response(exchange)
        if isinstance(plan.then, ReadWhole):
            return Step("whole", plan.hold_s) if plan.hold_s else self._complete_answer(exchange)
        return self._planned(exchange, plan)

    def _complete_answer(self, exchange: Exchange) -> Step:
        return self._planned(exchange, self._handler.whole_response(exchange))

    def _planned(self, exchange: Exchange, plan: Plan[Any]) -> Step:
        return _step(exchange, plan, tuple(self._relayed(exchange, plan)))

    def _relayed(self, exchange: Exchange, plan: Plan[Any]) -> Iterable[bytes]:
        """Yield what becomes of an answer that is relayed."""
        body = exchange.response_body or b""
        if not isinstance(plan.then, Relay):
            return
        if not plan.then.tap:
            yield body
            return
        if body:
            yield from self._handler.response_piece(exchange, body, last=False)
        yield from self._handler.response_piece(exchange, b"", last=True)


def _step(exchange: Exchange, plan: Plan[Any], relayed: tuple[bytes, ...]) -> Step:
    match plan.then:
        case Abort():
            return Step("end", plan.hold_s)
        case Respond() as respond:
            pieces = _messages_of(exchange, respond)
            is_cut = respond.cut is not None
            return Step("say", plan.hold_s, pieces, respond.pause_s, is_cut)
        case Relay() if b"".join(relayed) != exchange.response_body:
            return Step("say", plan.hold_s, (_line(b"".join(relayed)),))
        case _:
            return Step("pass", plan.hold_s)


def _messages_of(exchange: Exchange, respond: Respond) -> tuple[bytes, ...]:
    """Return what a client gets in place of an HTTP response: lines of JSON-RPC."""
    asked = tuple(requests(read_messages(exchange.request_body or b"")))
    if not asked:
        return ()  # A notification has no answer.
    if 200 <= respond.status < 300:
        *pieces, last = respond.pieces or (b"",)
        return (*pieces, last if respond.cut is not None else _line(last))
    text = f"HTTP {respond.status}"
    return tuple(map(_line, answers_to(asked, lambda _: error(INTERNAL_ERROR, text))))


def _line(message: bytes) -> bytes:
    return message.rstrip(b"\r\n") + b"\n"


def _session_header(number: int) -> tuple[str, str]:
    """Return the key of a session: processes of one name use the same ids."""
    return "mcp-session-id", f"stdio-{number}"


def _number(query: dict[str, str], name: str) -> int:
    text = query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise BadCall(400, f"{name}: {text!a} is not a number")
    return int(text)


def _outcome(body: bytes) -> Outcome:
    try:
        return msgspec.json.decode(body, type=Outcome)
    except msgspec.MsgspecError as mistake:
        raise BadCall(400, f"the body is not an outcome of an exchange: {mistake}") from None
