"""The agent's LLM calls: recognizes them, adds the defence, uses the cache, records the end."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Self

from mitmproxy import http

from warex.effects import Reply
from warex.errors import TrialVoid
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.llm import LlmAnswer, LlmRequest, could_be_llm, recognise, retry_after, with_system_text
from warex.llm.actions.parser import SubtaskDepth
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.browser_origin import is_site_request
from warex.llm.recognition.hosts import is_known_llm_host
from warex.llm.recognition.request_signing import body_signature
from warex.llm.recognition.unrecognised import (
    NOT_UNDERSTOOD,
    may_be_unrecognised,
    unrecognised_reason,
)
from warex.llm.recognition.websocket import carries_calls, parse_request, unreadable_socket_reason
from warex.proxy.exchange.llm_tap import LlmTap, ReadCall, read_call
from warex.proxy.exchange.llm_websocket import LlmWebsocketCall, LlmWebsocketCalls
from warex.proxy.exchange.paced_response import paced_response_of
from warex.proxy.exchange.state import ExchangeState
from warex.proxy.net.encoding import decode, encode
from warex.scenarios import Injector, PlannedInjection
from warex.traces import DefenceApplied, LlmCall, LlmRetried, LlmUnread
from warex.traces.llm_cache import CachedAnswer, LlmCache, open_llm_cache

_KEPT_HEADERS = ("content-type", "content-encoding", "x-request-id")
"""Response headers kept in the cache: those that clients read, without secrets or rate limits."""


@dataclass(frozen=True, slots=True)
class _RateLimited:
    """A call whose client was asked to wait."""

    injection: str
    wait_s: float
    at: float
    """Second of the trial."""


class LlmCalls:
    """Handles the LLM requests of a task."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        self._config = config
        self._injector = injector
        self._recorder = recorder
        self._cache = _cache_of(config)
        self.progress = SubtaskDepth()
        """The agent's subtask depth."""
        self._last_answer: tuple[int, LlmAnswer] | None = None
        """The model's last complete answer, and its step."""
        self._refused: dict[str, _RateLimited] = {}
        """Calls whose client was asked to wait, by body digest."""

    def begin_task(self) -> None:
        """Forget the previous task."""
        self.progress, self._last_answer, self._refused = SubtaskDepth(), None, {}

    def for_parallel_task(self, injector: Injector) -> Self:
        """Return the calls of a concurrent task."""
        other = copy(self)
        other._injector = injector
        other.begin_task()
        return other

    def recognise(self, flow: http.HTTPFlow, state: ExchangeState) -> LlmRequest | None:
        """Return the LLM call of a request; None if it is not one."""
        request = flow.request
        if state.resource == "websocket":
            self._expect_calls(state, request.path)
        asked = state.exchange.request
        host = asked.parts.hostname or ""
        of_site = is_site_request(host, asked.headers, self._config.traffic.llm_hosts)
        if request.method != "POST" or of_site:
            return None
        content = decode(request.raw_content or b"", request.headers.get("content-encoding", ""))
        body = content.body
        kind = request.headers.get("content-type", "")
        call = recognise(request.method, request.path, kind, body)
        if call is None:
            state.unread_llm = unrecognised_reason(
                asked.method, host, request.path, asked.headers, body, content.error
            )
        return call

    def begin_call(self, state: ExchangeState, call: LlmRequest, now: float) -> None:
        """Count a call as a step of the agent, and track it."""
        self._injector.llm_call(call.body_digest)
        exchange, step = state.exchange, self._injector.steps
        state.llm = LlmTap(call, exchange.request.url, step, now, progress=self.progress)
        last = self._last_answer
        earlier = None if last is None or last[0] == step else last[1]
        state.exchange = LlmExchange(
            exchange.id, exchange.request, llm_request=call, step=step, previous_answer=earlier
        )

    def _expect_calls(self, state: ExchangeState, path: str) -> None:
        """Track the calls over a WebSocket, if a request opens one to a model."""
        request = state.exchange.request
        host = request.parts.hostname or ""
        if carries_calls(host, path, request.headers, self._config.traffic.llm_hosts):
            state.llm_websocket = LlmWebsocketCalls(state.exchange.id)
        else:
            state.unread_llm = unreadable_socket_reason(host, request.headers)

    def note_refused(self, state: ExchangeState, injection: PlannedInjection, now: float) -> None:
        """Note that an injection refused a call, and the seconds its client is to wait."""
        if state.llm is None or not self._is_of_task(state.llm):
            return
        for effect in injection.effects:
            if not isinstance(effect, Reply):
                continue
            wait_s = retry_after(state.llm.request, effect.headers, effect.body)
            if wait_s is not None:
                refused = _RateLimited(injection.id, wait_s, now)
                self._refused[state.llm.request.body_digest] = refused

    def note_retry(self, state: ExchangeState) -> None:
        """Record that a call retries a refused one, and after how many seconds."""
        tap = state.llm
        if tap is None or tap.request.body_digest not in self._refused:
            return
        refused = self._refused.pop(tap.request.body_digest)
        self._recorder.write(
            LlmRetried(
                exchange=state.exchange.id,
                injection=refused.injection,
                told_s=refused.wait_s,
                waited_s=round(tap.began - refused.at, 6),
            )
        )

    def note_unread(self, state: ExchangeState) -> None:
        """Record a request that looks like an LLM call but could not be read.

        Raises TrialVoid if the condition has a defence and the host is known to serve models.
        """
        if state.unread_llm is not None:
            host = state.exchange.request.parts.hostname or ""
            self._unread(state, state.unread_llm, surely=is_known_llm_host(host))

    def _unread(self, state: ExchangeState, reason: str, *, surely: bool = True) -> None:
        url = state.exchange.request.url
        self._recorder.write(LlmUnread(exchange=state.exchange.id, url=url, reason=reason))
        if surely and self._config.defence is not None:
            raise self._without_defence(state, f"it cannot be read: {reason}")

    def _without_defence(self, state: ExchangeState, why: str) -> TrialVoid:
        """Return the error of a trial whose model would be asked without the defence."""
        name = "" if self._config.defence is None else self._config.defence.name
        return TrialVoid(
            f"the defence {name!r} cannot be added to a request to"
            f" {state.exchange.request.parts.hostname}: {why}"
        )

    def websocket_request(self, state: ExchangeState, message: bytes) -> bool:
        """Return whether a client's message is an LLM call, and track it.

        Raises TrialVoid if the condition has a defence: messages are not changed.
        """
        path = state.exchange.request.parts.path
        said = None if state.llm_websocket is None else parse_request(path, message)
        if said is None or state.llm_websocket is None:
            return False
        tap = None
        if said.request is not None:
            if self._config.defence is not None:
                raise TrialVoid(
                    f"the defence {self._config.defence.name!r} cannot be added to a call over a"
                    f" WebSocket, to {state.exchange.request.parts.hostname}"
                )
            self._injector.llm_call(said.request.body_digest)
            now, step, exchange = self._recorder.clock.now(), self._injector.steps, state.exchange
            call = LlmExchange(exchange.id, exchange.request, llm_request=said.request, step=step)
            self._injector.skip_websocket_call(call, now)
            tap = LlmTap(said.request, exchange.request.url, step, now, progress=self.progress)
        elif said.is_call:
            self._unread(state, NOT_UNDERSTOOD)
        state.llm_websocket.begin(said.stream, tap)
        return tap is not None

    def websocket_response(self, state: ExchangeState, message: bytes) -> bool:
        """Read a server's message; return whether it ends the agent's task."""
        if state.llm_websocket is None:
            return False
        over = state.llm_websocket.receive(message, self._recorder.clock.now())
        return over is not None and self._end_over_socket(over, None)

    def abandon_websocket(self, state: ExchangeState, why: str, *, opaque: bool) -> None:
        """Record the open calls of a WebSocket that has closed or become ``opaque``."""
        if state.llm_websocket is None:
            return
        if opaque:
            self._unread(state, f"its WebSocket cannot be read: {why}")
        for call in state.llm_websocket.abandon():
            self._end_over_socket(call, why)

    def _end_over_socket(self, call: LlmWebsocketCall, error: str | None) -> bool:
        if (tap := call.tap) is None:
            return False
        status = None if tap.first_byte is None else call.status
        headers = http.Headers(content_type="text/event-stream")
        return self._record(tap, call.exchange, status, headers, error).ends_task

    def _is_of_task(self, tap: LlmTap) -> bool:
        """Whether a call belongs to the current task, not to an earlier one."""
        return tap.progress is self.progress

    def _record(
        self,
        tap: LlmTap,
        exchange: str,
        status: int | None,
        headers: http.Headers,
        error: str | None,
        *,
        by_model: bool = True,
    ) -> ReadCall:
        """Read and record a finished call; only one of the current task may end it."""
        call = read_call(
            tap,
            exchange,
            status=status,
            content_type=headers.get("content-type", ""),
            content_encoding=headers.get("content-encoding", ""),
            error=error,
            now=self._recorder.clock.now(),
            vocabulary=self._config.vocabulary,
            blobs=self._recorder.blobs,
            by_model=by_model,
        )
        self._recorder.write(call.event)
        for action in call.actions:
            self._recorder.write(action)
        return replace(call, ends_task=call.ends_task and self._is_of_task(tap))

    def add_defence(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Add the condition's defence to a call, if it has one.

        Steps are counted before, by the agent's own request: its repeat is the same step. Raises
        TrialVoid if the text cannot be added.
        """
        tap, defence = state.llm, self._config.defence
        if tap is None or defence is None:
            return
        request = flow.request
        if signed := body_signature(request.path, state.exchange.request.headers):
            raise self._without_defence(state, signed)
        coding = request.headers.get("content-encoding", "")
        content = decode(request.raw_content or b"", coding)
        if content.error is not None:
            raise self._without_defence(state, content.error)
        try:
            changed = with_system_text(tap.request, content.body, defence.text)
        except ValueError as error:
            raise self._without_defence(state, str(error)) from None
        # Compress it as before. ``content`` supports only a single coding.
        request.raw_content = encode(changed, coding)
        if "transfer-encoding" not in request.headers:
            request.headers["content-length"] = str(len(request.raw_content))
        content_type = request.headers.get("content-type", "")
        asked = recognise(request.method, request.path, content_type, changed)
        if asked is None:
            raise TrialVoid(f"with the defence {defence.name!r} a request is no LLM call any more")
        tap.request = asked
        self._recorder.write(DefenceApplied(exchange=state.exchange.id, defence=defence.name))

    def cached_response(self, flow: http.HTTPFlow, state: ExchangeState) -> http.Response | None:
        """Return the cached response to a request, or None; raise TraceError if it is damaged."""
        tap = state.llm
        if self._cache is None or tap is None:
            return None
        coding = flow.request.headers.get("content-encoding", "")
        body = decode(flow.request.raw_content or b"", coding).body
        tap.sent_at = self._recorder.clock.now()
        tap.cache_entry = self._cache.ask(flow.request.method, tap.url, body)
        tap.replayed = self._cache.earlier(tap.cache_entry)
        return None if tap.replayed is None else _response(tap.replayed)

    def read_held_response(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Read a complete response, which a fault may replace for the client."""
        if state.llm is not None and flow.response is not None:
            headers = flow.response.headers
            state.llm.add(flow.response.raw_content or b"", self._recorder.clock.now())
            state.llm.read_upstream_usage(
                flow.response.status_code,
                headers.get("content-type", ""),
                headers.get("content-encoding", ""),
            )

    def end(self, flow: http.HTTPFlow, state: ExchangeState, error: str | None) -> bool:
        """Record a finished call; return whether it ends the agent's task."""
        tap, response = state.llm, flow.response
        if tap is None:
            return False
        if state.by_warex and response is not None and tap.first_byte is None:
            tap.add(response.raw_content or b"", self._recorder.clock.now())
        headers = http.Headers() if response is None else response.headers
        # A delayed or truncated answer is the model's own.
        in_part = paced_response_of(flow) is not None
        by_model = not state.by_warex or in_part
        # The client has nothing of an answer that was cut before it began.
        given = response is not None and (error is None or state.response_started or in_part)
        status = response.status_code if given and response is not None else None
        call = self._record(tap, state.exchange.id, status, headers, error, by_model=by_model)
        if self._is_of_task(tap) and call.answer.complete and by_model:
            self._last_answer = tap.step, call.answer
        self._keep(tap, call.event, headers, by_model=not state.by_warex and error is None)
        return call.ends_task

    def _keep(self, tap: LlmTap, event: LlmCall, headers: http.Headers, *, by_model: bool) -> None:
        """Cache a new, complete answer of the model's own."""
        if self._cache is None or tap.cache_entry is None or tap.replayed is not None:
            return
        # Cached answers are not redacted, so an answer with a secret is not cached.
        whole = (
            event.status == 200
            and event.complete
            and not self._recorder.redactor.is_secret_answer(event.answer, event.tool_calls)
        )
        if not (whole and by_model) or tap.last_byte is None:
            self._cache.give_up(tap.cache_entry)
            return
        kept = tuple((name, headers[name]) for name in _KEPT_HEADERS if name in headers)
        latency = round(tap.last_byte - tap.sent_at, 6)
        self._cache.keep(tap.cache_entry, CachedAnswer(kept, bytes(tap.body), latency))


def may_be_llm_call(method: str, path: str) -> bool:
    """Whether a request may be an LLM call, so that its body is kept whatever its size."""
    return could_be_llm(method, path) or may_be_unrecognised(method, path)


def _cache_of(config: ProxyConfig) -> LlmCache | None:
    if config.llm_cache is None or config.out is None:
        return None
    return open_llm_cache(config.llm_cache.cache, config.llm_cache.shared, config.out)


def _response(answer: CachedAnswer) -> http.Response:
    """Make a response of a cached answer."""
    response = http.Response.make(200, b"", dict(answer.headers))
    # ``content`` would compress it again.
    response.raw_content = answer.body
    response.headers["content-length"] = str(len(answer.body))
    return response
