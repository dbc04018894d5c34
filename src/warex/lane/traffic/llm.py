"""The agent's LLM calls: adds the defence, uses the cache, records the end."""

from collections.abc import Sequence
from copy import copy
from typing import Final, Self, override

from msgspec import Struct
from msgspec.structs import replace

from warex.effects import Reply
from warex.engine.http.encoding import StreamDecoder, decode, encode
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.errors import TrialVoid
from warex.exchange import Exchange, Request
from warex.lane.config import ProxyConfig
from warex.lane.record.recorder import Recorder
from warex.lane.traffic.base import Ending, Traffic
from warex.lane.traffic.coded_stream import CodedStream
from warex.lane.traffic.llm_tap import LlmTap, ReadCall, read_call
from warex.lane.traffic.token_capture import TokenCapture
from warex.lane.whole_response import WholeResponse
from warex.llm import (
    LlmAnswer,
    LlmRequest,
    recognise,
    retry_after,
    streamed_answer,
    with_system_text,
)
from warex.llm.actions.vocabulary import SubtaskDepth
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.hosts import host_matches, is_known_llm_host
from warex.llm.recognition.request_signing import body_signature
from warex.llm.stream import LlmStream, read_stream
from warex.scenarios import Injector, PlannedInjection
from warex.traces import DefenceApplied, LlmCall, LlmRetried, LlmUnread
from warex.traces.llm_cache import CachedAnswer, LlmCache, open_llm_cache

_KEPT_HEADERS: Final = ("content-type", "content-encoding", "x-request-id")
"""Response headers kept in the cache: those that clients read, without secrets or rate limits."""
NO_HEADERS: Final = Headers()


class _RateLimited(Struct, frozen=True):
    """A call whose client was asked to wait."""

    injection: str
    wait_s: float
    at: float
    """Second of the trial."""


class LlmCalls:
    """The LLM calls of a task."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        self.config = config
        self.injector = injector
        self.recorder = recorder
        self.cache = _cache_of(config)
        self.progress = SubtaskDepth()
        """The agent's subtask depth."""
        self.last_answer: tuple[int, LlmAnswer] | None = None
        """The model's last complete answer, and its step."""
        self._refused: dict[str, _RateLimited] = {}
        """Calls whose client was asked to wait, by body digest."""

    def begin_task(self) -> None:
        """Forget the previous task."""
        self.progress, self.last_answer, self._refused = SubtaskDepth(), None, {}

    def for_parallel_task(self, injector: Injector) -> Self:
        """Return the calls of a concurrent task."""
        other = copy(self)
        other.injector = injector
        other.begin_task()
        return other

    def token_capture(self, call: LlmRequest, request: Request) -> TokenCapture | None:
        """Return what captures the tokens of a call, if its server is one for that."""
        host = request.parts.hostname or ""
        for pattern, dialect in self.config.traffic.token_dialects:
            if host_matches(pattern, host):
                return TokenCapture(call, dialect)
        return None

    def is_of_task(self, tap: LlmTap) -> bool:
        """Whether a call belongs to the current task, not to an earlier one."""
        return tap.progress is self.progress

    def note_recorded(self, traffic: Traffic) -> None:
        """Record what belongs to a request, after its own event: that it is unread, or a retry.

        Raises TrialVoid if the condition has a defence and the host is known to serve models.
        """
        if traffic.unread_llm is not None:
            host = traffic.exchange.request.parts.hostname or ""
            self.unread(traffic.exchange, traffic.unread_llm, surely=is_known_llm_host(host))
        if isinstance(traffic, LlmTraffic):
            self._note_retry(traffic)

    def unread(self, exchange: Exchange, reason: str, *, surely: bool = True) -> None:
        """Record a call that could not be read; ``surely``: the request is certainly a call."""
        url = exchange.request.url
        self.recorder.write(LlmUnread(exchange=exchange.id, url=url, reason=reason))
        if surely and self.config.defence is not None:
            raise self.without_defence(exchange, f"it cannot be read: {reason}")

    def without_defence(self, exchange: Exchange, why: str) -> TrialVoid:
        """Return the error of a trial whose model would be asked without the defence."""
        name = "" if self.config.defence is None else self.config.defence.name
        return TrialVoid(
            f"the defence {name!r} cannot be added to a request to"
            f" {exchange.request.parts.hostname}: {why}"
        )

    def note_refused(self, tap: LlmTap, injection: PlannedInjection) -> None:
        """Note that an injection refused a call, and the seconds its client is to wait."""
        if not self.is_of_task(tap):
            return
        for effect in injection.effects:
            if not isinstance(effect, Reply):
                continue
            wait_s = retry_after(tap.request, effect.headers, effect.body)
            if wait_s is not None:
                refused = _RateLimited(injection.id, wait_s, self.recorder.clock.now())
                self._refused[tap.request.body_digest] = refused

    def _note_retry(self, traffic: "LlmTraffic") -> None:
        """Record that a call retries a refused one, and after how many seconds."""
        tap = traffic.tap
        refused = self._refused.pop(tap.request.body_digest, None)
        if refused is None:
            return
        self.recorder.write(
            LlmRetried(
                exchange=traffic.exchange.id,
                injection=refused.injection,
                retry_after_s=refused.wait_s,
                waited_s=round(tap.began - refused.at, 6),
            )
        )

    def record(
        self,
        tap: LlmTap,
        exchange: str,
        status: int | None,
        headers: Headers,
        error: str | None,
        *,
        by_model: bool = True,
    ) -> ReadCall:
        """Read and record a finished call; only one of the current task may end it."""
        call = read_call(
            tap,
            exchange,
            status=status,
            content_type=headers.get("content-type"),
            content_encoding=headers.get("content-encoding"),
            error=error,
            now=self.recorder.clock.now(),
            vocabulary=self.config.vocabulary,
            blobs=self.recorder.blobs,
            by_model=by_model,
        )
        self.recorder.write(call.event)
        for action in call.actions:
            self.recorder.write(action)
        return replace(call, ends_task=call.ends_task and self.is_of_task(tap))

    def keep(self, tap: LlmTap, event: LlmCall, headers: Headers, *, by_model: bool) -> None:
        """Cache a new, complete answer of the model's own."""
        if self.cache is None or tap.cache_entry is None or tap.replayed is not None:
            return
        # Cached answers are not redacted, so an answer with a secret is not cached.
        is_complete = (
            event.status == 200
            and event.complete
            and not self.recorder.redactor.is_secret_answer(event.answer, event.tool_calls)
        )
        if not (is_complete and by_model) or tap.last_byte is None:
            self.cache.give_up(tap.cache_entry)
            return
        values = headers.by_name
        cached_headers = tuple((name, values[name]) for name in _KEPT_HEADERS if name in values)
        latency = round(tap.last_byte - tap.sent_at, 6)
        self.cache.keep(tap.cache_entry, CachedAnswer(cached_headers, bytes(tap.body), latency))


class LlmTraffic(Traffic):
    """One LLM call; ``begin`` comes once its task is known."""

    may_be_form = False
    tap: LlmTap
    _calls: LlmCalls

    def __init__(self, exchange: Exchange, request: LlmRequest) -> None:
        super().__init__(replace(exchange, server="llm"))
        self.request = request

    def begin(self, calls: LlmCalls) -> None:
        """Count the call as a step of its task, and track it."""
        calls.injector.llm_call(self.request.body_digest)
        exchange, step, now = self.exchange, calls.injector.arming.steps, calls.recorder.clock.now()
        self._calls = calls
        url = exchange.request.url
        self.tap = LlmTap(self.request, url, step, now, progress=calls.progress)
        self.tap.tokens = calls.token_capture(self.request, exchange.request)
        last = calls.last_answer
        earlier = None if last is None or last[0] == step else last[1]
        self.exchange = LlmExchange(
            exchange.id,
            exchange.request,
            llm_request=self.request,
            step=step,
            previous_answer=earlier,
        )

    @override
    def prepare_head(self, head: RequestHead) -> RequestHead:
        if self.tap.tokens is None or "accept-encoding" not in head.headers.by_name:
            return head
        # Tokens are hidden in an answer as it streams.
        headers = head.headers.with_field("accept-encoding", "identity")
        return replace(head, headers=headers, raw=b"")

    @override
    def prepare(self, head: RequestHead, body: bytes) -> bytes:
        """Add the condition's defence and ask for tokens, if that is wanted.

        Steps are counted before, by the agent's own request: its repeat is the same step. Raises
        TrialVoid if the defence cannot be added.
        """
        changed = self._with_defence(head, body)
        tokens = self.tap.tokens
        return (
            changed if tokens is None else tokens.ask(head, self.exchange.request.headers, changed)
        )

    def _with_defence(self, head: RequestHead, body: bytes) -> bytes:
        calls = self._calls
        if (defence := calls.config.defence) is None:
            return body
        if signed := body_signature(head.path, self.exchange.request.headers):
            raise calls.without_defence(self.exchange, signed)
        coding = head.headers.get("content-encoding")
        content = decode(body, coding)
        if content.error is not None:
            raise calls.without_defence(self.exchange, content.error)
        try:
            changed = with_system_text(self.tap.request, content.body, defence.text)
        except ValueError as error:
            raise calls.without_defence(self.exchange, str(error)) from None
        asked = recognise(head.method, head.path, head.headers.get("content-type"), changed)
        if asked is None:
            raise TrialVoid(
                f"with the defence {defence.name!r} a request is not an LLM call any more"
            )
        self.tap.request = asked
        calls.recorder.write(DefenceApplied(exchange=self.exchange.id, defence=defence.name))
        # Compress it as before.
        return encode(changed, coding)

    @override
    def replay(self, head: RequestHead, body: bytes) -> WholeResponse | None:
        """Return the cached response to a request, or None; raise TraceError if it is damaged."""
        cache, tap = self._calls.cache, self.tap
        if cache is None:
            return None
        content = decode(body, head.headers.get("content-encoding")).body
        tap.sent_at = self._calls.recorder.clock.now()
        tap.cache_entry = cache.ask(head.method, tap.url, content)
        tap.replayed = cache.earlier(tap.cache_entry)
        if tap.replayed is None:
            return None
        fields = tuple(
            (name.encode(), value.encode("latin-1", "replace"))
            for name, value in tap.replayed.headers
        )
        length = b"%d" % len(tap.replayed.body)
        headers = Headers((*fields, (b"content-length", length)))
        return WholeResponse(ResponseHead(200, b"OK", "HTTP/1.1", headers), tap.replayed.body)

    @override
    def answered(self, head: ResponseHead) -> None:
        if self.tap.tokens is not None:
            self.tap.tokens.answered(head)
        fields = head.headers
        streams = fields.get("content-type").lower().startswith("text/event-stream")
        coding = fields.get("content-encoding")
        if streams and 200 <= head.status < 300 and StreamDecoder.reads(coding):
            self.tap.begun = streamed_answer(self.tap.request)
            self.tap.coded = CodedStream(coding) if coding else None

    @property
    @override
    def needs_whole_response(self) -> bool:
        return self.tap.tokens is not None and self.tap.tokens.needs_whole_response

    @property
    @override
    def changes_length(self) -> bool:
        return self.tap.tokens is not None and self.tap.tokens.streams

    @override
    def as_asked(self, response: WholeResponse) -> WholeResponse:
        return response if self.tap.tokens is None else self.tap.tokens.read_complete(response)

    @override
    def read_buffered(self, response: WholeResponse) -> None:
        headers = response.head.headers
        self.tap.add(response.body, self._calls.recorder.clock.now())
        self.tap.read_upstream_usage(
            response.head.status, headers.get("content-type"), headers.get("content-encoding")
        )

    @override
    def stream(
        self, response: WholeResponse, events: Sequence[bytes] | None = None
    ) -> LlmStream | None:
        if not 200 <= response.head.status < 300:
            return None
        kind = response.head.headers.get("content-type")
        return read_stream(self.tap.request, kind, response.body, events)

    @override
    def feed(self, piece: bytes) -> bytes:
        if self.tap.tokens is not None:
            piece = self.tap.tokens.feed(piece)
        if piece:
            self.tap.add(piece, self._calls.recorder.clock.now())
        return piece

    @property
    @override
    def reads_on(self) -> bool:
        return self.tap.coded is not None

    @override
    def read_on(self) -> bool:
        return self.tap.read_on(self._calls.recorder.clock.now())

    @override
    def reset(self) -> None:
        self.tap.reset()

    @override
    def note_delivered(self, injection: PlannedInjection) -> None:
        self._calls.note_refused(self.tap, injection)

    @override
    def end(self, ending: Ending) -> bool:
        calls, tap, head = self._calls, self.tap, ending.head
        if ending.by_warex and head is not None and tap.first_byte is None:
            tap.add(ending.body, calls.recorder.clock.now())
        headers = NO_HEADERS if head is None else head.headers
        # A delayed or truncated answer is the model's own.
        by_model = not ending.by_warex or ending.in_part
        call = calls.record(
            tap,
            self.exchange.id,
            _status(head, ending),
            headers,
            ending.error,
            by_model=by_model,
        )
        if calls.is_of_task(tap) and call.answer.complete and by_model:
            calls.last_answer = tap.step, call.answer
        # Clients leave at a stream's last event, before its body ends.
        is_own = not ending.by_warex and (ending.error is None or ending.client_left)
        calls.keep(tap, call.event, headers, by_model=is_own)
        return call.ends_task


def _status(head: ResponseHead | None, ending: Ending) -> int | None:
    """Return the status that the client has seen: none of an answer cut before it began."""
    was_sent = ending.error is None or ending.began or ending.in_part
    return None if head is None or not was_sent else head.status


def _cache_of(config: ProxyConfig) -> LlmCache | None:
    if config.llm_cache is None or config.out is None:
        return None
    return open_llm_cache(config.llm_cache.cache, config.llm_cache.shared, config.out)
