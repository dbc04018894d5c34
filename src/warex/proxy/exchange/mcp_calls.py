"""The agent's calls to MCP servers: recognizes them, matches their answers, records both.

An answer is in the response to its request or, in the older transport and for a resumed stream, an
event of another exchange of the same session.
"""

import asyncio
from collections.abc import Callable
from typing import Final
from urllib.parse import urljoin, urlsplit

from mitmproxy import http
from pydantic import JsonValue

from warex import mcp
from warex.effects import EditToolAnswer, PushToolEvent
from warex.lane.record.recorder import Recorder
from warex.llm.recognition.browser_origin import is_browser_request
from warex.mcp import changes
from warex.mcp.content import detach_blobs, truncated
from warex.mcp.exchange import McpExchange
from warex.mcp.messages import Key, McpAnswer
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection, wait_before_piece
from warex.proxy.exchange.mcp_tap import Amendment, McpSession, McpTap, PendingRequest
from warex.proxy.exchange.state import ExchangeState
from warex.proxy.net.encoding import decode
from warex.scenarios import PlannedInjection
from warex.traces import McpCall

_MOST_PENDING: Final = 10_000
_MOST_ASKED: Final = 1000
_MOST_ERROR: Final = 1000
_MOST_READ: Final = 4 * 1024 * 1024
"""Characters that are redacted, before the value is shortened."""


class McpCalls:
    """Handles the MCP traffic of a trial."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._sessions: dict[str, McpSession] = {}
        self._asked: set[str] = set()
        """URLs to which a client has sent messages, even if refused: it may request a stream."""
        self._count = 0

    def needs_request_body(self, flow: http.HTTPFlow) -> bool:
        """Whether a request may be of MCP, so that its body is kept whatever its size."""
        if flow.request.method != "POST":
            return False
        named = flows.header_dict(flow.request.headers)
        return mcp.could_be_mcp("POST", named) or flows.url_of(flow) in self._sessions

    def recognise(self, flow: http.HTTPFlow, state: ExchangeState, now: float) -> None:
        """Track a request, if it is of MCP."""
        asked = state.exchange.request
        if is_browser_request(asked.headers):
            return
        name = _session_key(asked.url, mcp.session_id(asked.headers))
        session = self._sessions.get(name) or self._sessions.get(asked.url)
        if asked.method == "POST":
            coding = asked.headers.get("content-encoding", "")
            messages = mcp.read_messages(decode(flow.request.raw_content or b"", coding).body)
            if session is None and not mcp.is_mcp(messages, asked.headers):
                return
            tap = self._follow(state, session, name)
            if len(self._asked) < _MOST_ASKED:
                self._asked.add(asked.url)
            found = tuple(mcp.requests(messages))
            for request in found:
                self._add_request(tap, PendingRequest(request, state.exchange.id, asked.url, now))
            for key, reason in mcp.cancelled(messages):
                self._cancel(tap.session, key, reason, now)
        elif mcp.opens_stream(asked.method, asked.headers):
            tap = self._follow(state, session, name)
            tap.may_not_be_mcp = tap.session.number == 0
            known = asked.url in self._asked or mcp.is_stream_of_tools(asked.url, asked.headers)
            if tap.may_not_be_mcp and not known:
                return
            found = ()
        elif asked.method == "DELETE" and name:
            tap = self._follow(state, session, name)
            tap.ends_session = True
            found = ()
        else:
            return
        exchange = state.exchange
        state.exchange = McpExchange(
            exchange.id, exchange.request, mcp_requests=found, transport=tap.session.transport
        )

    def _follow(self, state: ExchangeState, session: McpSession | None, name: str) -> McpTap:
        session = session or McpSession()
        if name and name not in session.names:
            self._name(session, name)
        tap = state.mcp = McpTap(self, session, state.exchange.id, state.exchange.request.url)
        tap.client_has_left = state.client_status.left.is_set
        return tap

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

    def answered(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Read the head of a response."""
        tap = state.mcp
        if tap is None or flow.response is None:
            return
        headers = flow.response.headers
        name = _session_key(tap.url, headers.get("mcp-session-id", ""))
        if name and name not in tap.session.names:
            self._name(tap.session, name)
        tap.begin(headers)
        if tap.may_not_be_mcp and not tap.streams:
            state.mcp = None

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
        is_changed = False
        for message in messages:
            answer = next(mcp.answers([message]), None)
            call = None
            if answer is not None and answer.key is not None:
                call = pending.pop(answer.key, None)
            if call is not None and call.amendment is not None and tap.can_be_changed:
                said = self._amend(tap, call, call.amendment, message, now)
                is_changed = is_changed or said != changes.serialize(message)
                instead += [said] if said else []
                continue
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
        said = changes.serialize(message)
        if amendment.change is not None:
            said = changes.apply_change(message, amendment.change)
        amendment.done = True
        if tap.session.transport == "sse" and amendment.after:
            assert call.request.key is not None
            tap.session.pending[call.request.key] = call
            asyncio.get_running_loop().call_later(
                amendment.after, self._send_late, tap, call, amendment, said
            )
            return b""
        self._given(tap, call, amendment, said, now)
        return said

    def _given(
        self, tap: McpTap, call: PendingRequest, amendment: Amendment, said: bytes, now: float
    ) -> None:
        """Record a changed answer."""
        applied = amendment.applied
        applied.awaits_response, applied.replied = False, True
        answer = next(mcp.answers(mcp.read_messages(said)), None)
        if answer is None:
            self._give_up(tap.session, call, "the answer is not JSON", now)
        else:
            self._write(tap.session, call, answer, now)
        if applied.on_other_exchange:
            amendment.settle(not tap.client_has_left())

    def _send_late(
        self, tap: McpTap, call: PendingRequest, amendment: Amendment, said: bytes
    ) -> None:
        if call.request.key is None or tap.session.pending.pop(call.request.key, None) is not call:
            return
        amendment.applied.waited_s += amendment.after
        self._given(tap, call, amendment, said, self._recorder.clock.now())
        tap.send(said)

    def is_out_of_reach(self, state: ExchangeState, injection: PlannedInjection) -> bool:
        """Whether the answer's stream cannot be changed as an injection needs."""
        stream = None if state.mcp is None else state.mcp.session.stream
        return (
            any(isinstance(it, EditToolAnswer | PushToolEvent) for it in injection.effects)
            and stream is not None
            and not stream.can_change
        )

    def apply(
        self, state: ExchangeState, applied: AppliedInjection, settle: Callable[[bool], None]
    ) -> None:
        """Apply the effects of an injection on the answers and the stream of its session."""
        tap = state.mcp
        if tap is None:
            return
        for effect in applied.injection.effects:
            match effect:
                case EditToolAnswer(change, after):
                    applied.on_other_exchange = tap.session.transport == "sse"
                    for call in tap.pending:
                        call.amendment = Amendment(change, after, applied, settle)
                case PushToolEvent(message, after):
                    asyncio.get_running_loop().call_later(after, self._send, tap.session, message)
                case _:
                    pass

    def _send(self, session: McpSession, message: bytes) -> None:
        if session.stream is not None:
            self.handle_message(session.stream, message, self._recorder.clock.now())
            session.stream.send(message)

    def needs_whole_response(self, flow: http.HTTPFlow, state: ExchangeState) -> bool:
        """Whether a response must be buffered to be changed."""
        tap = state.mcp
        if tap is None or tap.session.transport == "sse" or flow.response is None:
            return False
        own = [call.amendment for call in tap.pending]
        wanted = [it for it in own if it is not None and not it.done]
        return bool(wanted) and not (tap.can_change and not any(it.after for it in wanted))

    async def amend(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Change a buffered response."""
        tap, response = state.mcp, flow.response
        if tap is None or response is None or not self.needs_whole_response(flow, state):
            return
        own = (call.amendment for call in tap.session.pending.values())
        wait = max((it.after for it in own if it is not None), default=0.0)
        await wait_before_piece(state.applied, wait, state.client_status, self._recorder.clock)
        flows.decode_content(response)
        body, now = response.raw_content or b"", self._recorder.clock.now()
        if "content-encoding" in response.headers:
            return
        tap.begin(response.headers)
        if tap.streams:
            body = tap.feed(body, now) + tap.feed(b"", now)
        else:
            tap.was_read = True
            body = self.handle_message(tap, body, now) or body
        response.raw_content = body
        if "content-length" in response.headers:
            response.headers["content-length"] = str(len(body))

    def keep_resumable(self, flow: http.HTTPFlow, state: ExchangeState, error: str | None) -> None:
        """Keep the injections on answers open that the client may fetch by another exchange."""
        tap = state.mcp
        if tap is None or self._why_unanswered(tap, flow.response, error) is not None:
            return
        for call in tap.pending:
            if call.amendment is not None:
                call.amendment.applied.on_other_exchange = call.amendment.applied.awaits_response

    def _take_requests(self, tap: McpTap) -> list[PendingRequest]:
        """Remove and return the pending calls of one exchange."""
        found = tap.pending + tap.without_id
        for call in tap.pending:
            assert call.request.key is not None
            del tap.session.pending[call.request.key]
        tap.without_id = []
        return found

    def end(self, flow: http.HTTPFlow, state: ExchangeState, error: str | None) -> None:
        """Record the end of an exchange."""
        tap, response = state.mcp, flow.response
        if tap is None or tap.is_over:
            return
        now = self._recorder.clock.now()
        headers = http.Headers() if response is None else response.headers
        if response is not None and not tap.was_read:
            # It was buffered, or is WAREX's own.
            tap.begin(headers)
            tap.feed(response.raw_content or b"", now)
        if not tap.streams:
            self.handle_message(tap, tap.decoded_body(headers.get("content-encoding", "")), now)
        why = self._why_unanswered(tap, response, error)
        if why is not None:
            for call in self._take_requests(tap):
                self._give_up(tap.session, call, why, now)
        if tap.ends_session or (tap.session.transport == "sse" and tap.streams):
            self._close(tap.session, error or "the session ended", now)

    def _why_unanswered(
        self, tap: McpTap, response: http.Response | None, error: str | None
    ) -> str | None:
        """Return why an exchange's requests have no answer; None if one may still arrive."""
        if response is None:
            return error or "no answer came"
        if not 200 <= response.status_code < 300:
            return f"HTTP {response.status_code}"
        if tap.session.transport == "sse" or (tap.resumable and tap.session.number):
            return None
        return error or tap.unread or "the answer ended before this was answered"

    def _close(self, session: McpSession, why: str, now: float) -> None:
        for name in session.names:
            self._sessions.pop(name, None)
        for call in session.pending.values():
            self._give_up(session, call, why, now)
        session.pending.clear()

    def finish(self) -> None:
        """Record the unanswered calls at the end of the trial."""
        now = self._recorder.clock.now()
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
        redactor = self._recorder.redactor
        # Redacted before it is shortened, since a truncated secret would not be recognized.
        asked, _ = truncated(request.arguments, _MOST_READ)
        arguments, arguments_cut = truncated(redactor.tool(request.tool, "arguments", asked))
        detached, images = detach_blobs(answer.result, redactor.image)
        answered, _ = truncated(detached, _MOST_READ)
        result, result_cut = truncated(redactor.tool(request.tool, "result", answered))
        if self._recorder.blobs is not None:
            for image in images.values():
                self._recorder.blobs.put(image)
        error = None if answer.error is None else redactor.text(answer.error[:_MOST_READ])
        self._recorder.write(
            McpCall(
                exchange=call.exchange,
                url=call.url,
                transport=session.transport,
                session=session.number,
                id=truncated(request.id, 200)[0],
                method=request.method[:200],
                tool=request.tool[:200],
                arguments=arguments,
                result=result,
                is_error=answer.error is not None and answer.result is not None,
                error=error and error[:_MOST_ERROR],
                error_code=answer.code,
                began=round(call.began, 6),
                latency_s=round(now - call.began, 6),
                complete=complete,
                shortened=arguments_cut or result_cut,
            )
        )
        if (it := call.amendment) and it.applied.on_other_exchange and it.applied.awaits_response:
            it.settle(False)  # There is no answer, or it is unchanged.


def _session_key(url: str, session_id: str) -> str:
    """Return the key of a session, unique across servers; empty if it has no id."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc} {session_id}" if session_id else ""


def amends_response(injection: PlannedInjection) -> bool:
    """Whether an injection changes an MCP answer, so that it is applied before the request."""
    return any(isinstance(effect, EditToolAnswer) for effect in injection.effects)
