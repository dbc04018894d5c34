"""The agent's calls to MCP servers: recognizes them, matches their answers, records both.

An answer is in the response to its request or, in the older transport and for a resumed stream, an
event of another exchange of the same session.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, override
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from warex import mcp
from warex.effects import EditToolResponse, PushToolEvent
from warex.engine.http.encoding import decode
from warex.engine.http.heads import ResponseHead
from warex.exchange import Exchange
from warex.lane.record.recorder import Recorder
from warex.lane.traffic.base import Ending, Traffic
from warex.lane.traffic.mcp_tap import Amendment, McpSession, McpTap, PendingRequest
from warex.lane.whole_response import WholeResponse
from warex.llm.recognition.browser_origin import is_browser_request
from warex.mcp import changes
from warex.mcp.content import detach_blobs, first_items, truncated
from warex.mcp.exchange import STDIO, McpExchange
from warex.mcp.messages import Key, McpAnswer, McpRequest
from warex.scenarios import PlannedInjection
from warex.traces import McpCall

_MOST_PENDING: Final = 10_000
_MOST_ASKED: Final = 1000
_MOST_READ: Final = 512 * 1024
"""Characters that are redacted, for which others wait; less is recorded."""


type CallLater = Callable[[float, Callable[[], None]], object]
"""Calls a function after some seconds."""


def _call_later(seconds: float, function: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(seconds, function)


class McpCalls:
    """Follows the MCP traffic of a trial."""

    def __init__(self, recorder: Recorder, call_later: CallLater = _call_later) -> None:
        self.recorder = recorder
        self._call_later = call_later
        self._sessions: dict[str, McpSession] = {}
        self._asked: set[str] = set()
        """URLs to which a client has sent messages, even if refused: it may request a stream."""
        self._count = 0

    def needs_request_body(self, method: str, url: str, headers: Mapping[str, str]) -> bool:
        """Whether a request may be of MCP, so that its body is kept at any size."""
        return method == "POST" and (mcp.could_be_mcp("POST", headers) or url in self._sessions)

    def recognise(self, exchange: Exchange, body: bytes) -> "McpTraffic | None":
        """Follow a request, if it is of MCP; None if it is not."""
        asked = exchange.request
        if is_browser_request(asked.headers):
            return None
        name = _session_key(asked.url, mcp.session_id(asked.headers))
        session = self._sessions.get(name) or self._sessions.get(asked.url)
        if asked.method == "POST":
            coding = asked.headers.get("content-encoding", "")
            messages = mcp.read_messages(decode(body, coding).body)
            if session is None and not mcp.is_mcp(messages, asked.headers):
                return None
            traffic = self._follow(exchange, session, name)
            self._add_messages(traffic, messages)
        elif mcp.opens_stream(asked.method, asked.headers):
            traffic = self._follow(exchange, session, name)
            tap = traffic.tap
            tap.may_not_be_mcp = tap.session.number == 0
            known = asked.url in self._asked or mcp.is_stream_of_tools(asked.url, asked.headers)
            if known or not tap.may_not_be_mcp:
                traffic.set_requests(())
        elif asked.method == "DELETE" and name:
            traffic = self._follow(exchange, session, name)
            traffic.tap.ends_session = True
            traffic.set_requests(())
        else:
            return None
        return traffic

    def _add_messages(self, traffic: "McpTraffic", messages: list[dict[str, JsonValue]]) -> None:
        """Track the requests of a body, and what it cancels."""
        exchange, tap, now = traffic.exchange, traffic.tap, self.recorder.clock.now()
        if len(self._asked) < _MOST_ASKED:
            self._asked.add(tap.url)
        requests = tuple(mcp.requests(messages))
        for request in requests:
            self._add_request(tap, PendingRequest(request, exchange.id, tap.url, now))
        for key, reason in mcp.cancelled(messages):
            self._cancel(tap.session, key, reason, now)
        traffic.set_requests(requests)

    def _follow(self, exchange: Exchange, session: McpSession | None, name: str) -> "McpTraffic":
        is_stdio = exchange.request.parts.scheme == STDIO
        session = session or McpSession(transport="stdio" if is_stdio else "streamable_http")
        if name and name not in session.names:
            self._name(session, name)
        return McpTraffic(self, exchange, McpTap(self, session, exchange.id, exchange.request.url))

    def _name(self, session: McpSession, name: str) -> None:
        """Register a session by a ``_session_key`` or the URL of its messages."""
        if not session.number:
            self._count += 1
            session.number = self._count
        session.names.append(name)
        self._sessions[name] = session

    def _add_request(self, tap: McpTap, call: PendingRequest) -> None:
        key = call.request.key
        if key is None:
            tap.without_id.append(call)
            return
        session, pending = tap.session, tap.session.pending
        if key in pending:
            self._give_up(session, pending.pop(key), "its id was used again", call.began)
        elif len(pending) >= _MOST_PENDING:
            oldest, why = pending.pop(next(iter(pending))), "too many requests came after it"
            self._give_up(session, oldest, why, call.began)
        pending[key] = call

    def _cancel(self, session: McpSession, key: Key, reason: str, now: float) -> None:
        if (call := session.pending.pop(key, None)) is not None:
            why = f"cancelled by the client: {reason}" if reason else "cancelled by the client"
            self._give_up(session, call, why, now)

    def answered(self, tap: McpTap, headers: Mapping[str, str]) -> None:
        """Read the head of a response."""
        name = _session_key(tap.url, mcp.session_id(headers))
        if name and name not in tap.session.names:
            self._name(tap.session, name)
        tap.begin(headers)
        tap.is_over = tap.may_not_be_mcp and not tap.streams

    def opened(self, tap: McpTap, endpoint: str) -> None:
        """Note the endpoint for messages of a server in the older transport."""
        try:
            url = urljoin(tap.url, endpoint)
        except ValueError:
            return  # No server of MCP sends this.
        tap.may_not_be_mcp = False
        tap.session.transport, tap.session.stream = "sse", tap
        self._name(tap.session, url)

    def handle_message(self, tap: McpTap, data: bytes, now: float) -> bytes | None:
        """Handle a message; return its replacement, None for no change, empty to delay it."""
        messages = mcp.read_messages(data)
        pending = tap.session.pending
        instead: list[bytes] = []
        amends, is_changed = tap.session.amends, False
        for message in messages:
            answer = next(mcp.answers([message]), None)
            call = None
            if answer is not None and answer.key is not None:
                call = pending.pop(answer.key, None)
            if call is not None and call.amendment is not None and tap.can_be_changed:
                serialized = self._amend(tap, call, call.amendment, message, now)
                is_changed = is_changed or serialized != changes.serialize(message)
                instead += [serialized] if serialized else []
                continue
            if amends:  # The answer may be in a batch with one that is changed.
                instead.append(changes.serialize(message))
            if call is not None and answer is not None:
                self._write(tap.session, call, answer, now)
            elif answer is not None and answer.error is not None:
                # An error without an id answers all requests of the exchange.
                for each in self._take_requests(tap):
                    self._write(tap.session, each, answer, now)
        if not is_changed:
            return None
        if len(instead) < 2:
            return b"".join(instead)
        return b"[" + b",".join(instead) + b"]"

    def _amend(
        self,
        tap: McpTap,
        call: PendingRequest,
        amendment: Amendment,
        message: dict[str, JsonValue],
        now: float,
    ) -> bytes:
        """Return the changed answer; empty if it is delayed."""
        serialized = changes.serialize(message)
        if amendment.change is not None:
            serialized = changes.apply_change(message, amendment.change)
        call.is_amended = True
        if tap.session.transport == "sse" and amendment.after:
            assert call.request.key is not None
            tap.session.pending[call.request.key] = call
            late = partial(self._send_late, tap, call, amendment, serialized)
            self._call_later(amendment.after, late)
            return b""
        self._record_changed(tap, call, amendment, serialized, now)
        return serialized

    def _record_changed(
        self, tap: McpTap, call: PendingRequest, amendment: Amendment, serialized: bytes, now: float
    ) -> None:
        """Record a changed answer."""
        amendment.awaits_answer = False
        answer = next(mcp.answers(mcp.read_messages(serialized)), None)
        if answer is None:
            self._give_up(tap.session, call, "the answer is not JSON", now)
        else:
            self._write(tap.session, call, answer, now)
        if amendment.on_other_exchange:
            amendment.settle(not tap.client_has_left())

    def _send_late(
        self, tap: McpTap, call: PendingRequest, amendment: Amendment, serialized: bytes
    ) -> None:
        if call.request.key is None or tap.session.pending.pop(call.request.key, None) is not call:
            return
        amendment.waited_s += amendment.after
        self._record_changed(tap, call, amendment, serialized, self.recorder.clock.now())
        tap.send(serialized)

    def push(self, session: McpSession, message: bytes, after: float) -> None:
        """Insert a message into a session's stream after some seconds."""
        self._call_later(after, partial(self._send, session, message))

    def _send(self, session: McpSession, message: bytes) -> None:
        if session.stream is not None:
            self.handle_message(session.stream, message, self.recorder.clock.now())
            session.stream.send(message)

    def _take_requests(self, tap: McpTap) -> list[PendingRequest]:
        """Remove and return the pending calls of one exchange."""
        requests = tap.pending + tap.without_id
        for call in tap.pending:
            assert call.request.key is not None
            del tap.session.pending[call.request.key]
        tap.without_id = []
        return requests

    def end(self, tap: McpTap, ending: Ending) -> None:
        """Record the end of an exchange."""
        if tap.is_over:
            return
        now = self.recorder.clock.now()
        headers = {} if ending.head is None else ending.head.headers.by_name
        if ending.head is not None and not tap.was_read:
            # The response was read to its end, or is WAREX's own.
            tap.begin(headers)
            tap.feed(ending.body, now)
        if not tap.streams:
            self.handle_message(tap, tap.decoded_body(headers.get("content-encoding", "")), now)
        why = why_unanswered(tap, ending)
        if why is not None:
            for call in self._take_requests(tap):
                self._give_up(tap.session, call, why, now)
        if tap.ends_session or (tap.session.transport == "sse" and tap.streams):
            self._close(tap.session, ending.error or "the session ended", now)

    def _close(self, session: McpSession, why: str, now: float) -> None:
        for name in session.names:
            self._sessions.pop(name, None)
        for call in session.pending.values():
            self._give_up(session, call, why, now)
        session.pending.clear()

    def finish(self) -> None:
        """Record the unanswered calls at the end of the trial."""
        now = self.recorder.clock.now()
        for session in list(self._sessions.values()):
            self._close(session, "the trial ended", now)

    # ---- the record

    def _give_up(self, session: McpSession, call: PendingRequest, why: str, now: float) -> None:
        self._write(session, call, McpAnswer(call.request.key, error=why), now, complete=False)

    def _write(
        self,
        session: McpSession,
        call: PendingRequest,
        answer: McpAnswer,
        now: float,
        *,
        complete: bool = True,
    ) -> None:
        request = call.request
        arguments, arguments_cut = truncated(request.arguments, _MOST_READ)
        first, has_more_items = first_items(answer.result)
        detached, images = detach_blobs(first, self.recorder.redactor.image)
        result, result_cut = truncated(detached, _MOST_READ)
        if self.recorder.blobs is not None:
            for image in images.values():
                self.recorder.blobs.put(image)
        self.recorder.write(
            McpCall(
                exchange=call.exchange,
                url=call.url,
                transport=session.transport,
                session=session.number,
                id=truncated(request.id, 200)[0],
                method=request.method[:_MOST_READ],
                tool=request.tool[:_MOST_READ],
                arguments=arguments,
                result=result,
                is_error=answer.error is not None and answer.result is not None,
                error=None if answer.error is None else answer.error[:_MOST_READ],
                error_code=answer.code,
                began=round(call.began, 6),
                latency_s=round(now - call.began, 6),
                complete=complete,
                shortened=arguments_cut or has_more_items or result_cut,
            )
        )
        if (it := call.amendment) and it.on_other_exchange and it.awaits_answer:
            it.settle(False)  # There is no answer, or it is unchanged.


class McpTraffic(Traffic):
    """Messages to an MCP server, or a stream that may be of one."""

    may_be_form = False

    def __init__(self, calls: McpCalls, exchange: Exchange, tap: McpTap) -> None:
        super().__init__(exchange)
        self.tap = tap
        self._calls = calls

    def set_requests(self, requests: tuple[McpRequest, ...]) -> None:
        """Show rules the requests of the exchange."""
        self.exchange = McpExchange(
            self.exchange.id,
            self.exchange.request,
            mcp_requests=requests,
            transport=self.tap.session.transport,
        )

    @override
    def answered(self, head: ResponseHead) -> None:
        self._calls.answered(self.tap, head.headers.by_name)

    @property
    @override
    def changes_length(self) -> bool:
        return self.tap.can_change

    @property
    @override
    def needs_whole_response(self) -> bool:
        tap = self.tap
        if tap.session.transport == "sse":
            return False
        to_change = [it.amendment for it in tap.pending if it.is_to_change]
        waits = any(it is not None and it.after for it in to_change)
        return bool(to_change) and (waits or not tap.can_change)

    @override
    def feed(self, piece: bytes) -> bytes:
        return self.tap.feed(piece, self._calls.recorder.clock.now())

    @override
    def can_apply(self, injection: PlannedInjection) -> bool:
        stream = self.tap.session.stream
        return (
            stream is None
            or stream.can_change
            or not any(isinstance(it, EditToolResponse | PushToolEvent) for it in injection.effects)
        )

    @override
    def apply(
        self, injection: PlannedInjection, settle: Callable[[bool], None]
    ) -> Amendment | None:
        session, amendment = self.tap.session, None
        for effect in injection.effects:
            match effect:
                case EditToolResponse(change, after):
                    elsewhere = session.transport == "sse"
                    amendment = Amendment(change, after, settle, on_other_exchange=elsewhere)
                    for call in self.tap.pending:
                        call.amendment = amendment
                case PushToolEvent(message, after):
                    self._calls.push(session, message, after)
                case _:
                    pass
        return amendment

    @property
    @override
    def amendment_wait_s(self) -> float:
        if not self.needs_whole_response:
            return 0.0
        pending = self.tap.session.pending.values()
        return max((it.amendment.after for it in pending if it.amendment is not None), default=0.0)

    @override
    def amend(self, response: WholeResponse) -> WholeResponse:
        if not self.needs_whole_response:
            return response
        response = response.decoded()
        headers = response.head.headers.by_name
        if "content-encoding" in headers:
            return response
        tap, now = self.tap, self._calls.recorder.clock.now()
        tap.begin(headers)
        if tap.streams:
            return response.with_body(tap.feed(response.body, now) + tap.feed(b"", now))
        tap.was_read = True
        changed = self._calls.handle_message(tap, response.body, now)
        return response.with_body(changed or response.body)

    @override
    def keep_open(self, ending: Ending) -> None:
        if why_unanswered(self.tap, ending) is not None:
            return
        for call in self.tap.pending:
            if call.amendment is not None:
                call.amendment.on_other_exchange = call.amendment.awaits_answer

    @override
    def end(self, ending: Ending) -> bool:
        self._calls.end(self.tap, ending)
        return False


def why_unanswered(tap: McpTap, ending: Ending) -> str | None:
    """Return why an exchange's requests have no answer; None if one may still arrive."""
    if ending.head is None:
        return ending.error or "no answer came"
    if not 200 <= ending.head.status < 300:
        return f"HTTP {ending.head.status}"
    if tap.session.transport == "sse" or (tap.resumable and tap.session.number):
        return None
    return ending.error or tap.unread or "the answer ended before this was answered"


def _session_key(url: str, session_id: str) -> str:
    """Return the key of a session, unique across servers; empty if it has no id."""
    if not session_id:
        return ""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc} {session_id}"


def amends_response(injection: PlannedInjection) -> bool:
    """Whether an injection changes an MCP answer, so that it is applied before the request."""
    return any(isinstance(effect, EditToolResponse) for effect in injection.effects)
