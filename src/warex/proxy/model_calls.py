"""The agent's calls to its model: recognised, defended, answered as before, read once they end."""

from mitmproxy import http

from warex.errors import TrialVoid
from warex.llm import could_be_llm, recognise, with_system_text
from warex.llm.actions import Progress
from warex.proxy.config import ProxyConfig
from warex.proxy.llm_tap import LlmTap, read_call
from warex.proxy.ongoing import Ongoing
from warex.proxy.recorder import Recorder
from warex.scenarios import Injector
from warex.traces import DefenceApplied, LlmCall
from warex.traces.llm_cache import KeptAnswer, LlmCache, open_llm_cache
from warex.traces.redact import REDACTED, redact_text

_KEPT_HEADERS = ("content-type", "content-encoding", "x-request-id")
"""What a client reads of an answer's head: none of them is a secret, or true of one moment only,
as a rate limit is."""


class ModelCalls:
    """What the proxy does with LLM requests beyond what it does with all."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        self._config = config
        self._injector = injector
        self._recorder = recorder
        self._cache = _cache_of(config)
        self.progress = Progress()
        """How deep in its task the agent is."""

    def recognise(self, flow: http.HTTPFlow, ongoing: Ongoing, now: float) -> bool:
        """Tell whether a request is a call to a model; if it is, follow it from here on."""
        request = flow.request
        if not could_be_llm(request.method, request.path):
            return False
        call = recognise(
            request.method,
            request.path,
            request.headers.get("content-type", ""),
            request.get_content(strict=False) or b"",
        )
        if call is None:
            return False
        self._injector.llm_call(call.body_digest)
        ongoing.llm = LlmTap(call, ongoing.exchange.request.url, self._injector.steps, now)
        return True

    def defend(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        """Add the condition's text to a call, if it has one.

        Steps have been counted by then, by what the agent sent: its own repeat is the same step.

        Raises TrialVoid where the text cannot be added: without it the condition would be another.
        """
        tap, defence = ongoing.llm, self._config.defence
        if tap is None or defence is None:
            return
        request = flow.request
        try:
            changed = with_system_text(tap.request, request.get_content() or b"", defence.text)
        except ValueError as error:
            raise TrialVoid(
                f"the defence {defence.name!r} cannot be added to a request to"
                f" {ongoing.exchange.request.parts.hostname}: {error}"
            ) from None
        # Compressed again as it came, and its length told anew.
        request.content = changed
        content_type = request.headers.get("content-type", "")
        asked = recognise(request.method, request.path, content_type, changed)
        if asked is None:
            raise TrialVoid(f"with the defence {defence.name!r} a request is no LLM call any more")
        tap.request = asked
        self._recorder.write(DefenceApplied(exchange=ongoing.exchange.id, defence=defence.name))

    def earlier(self, flow: http.HTTPFlow, ongoing: Ongoing) -> http.Response | None:
        """Return what the model answered to this very request in an earlier trial, or None.

        Raises TraceError where the kept answer is damaged.
        """
        tap = ongoing.llm
        if self._cache is None or tap is None:
            return None
        body = flow.request.get_content(strict=False) or b""
        tap.asked_at = self._recorder.clock.now()
        tap.asking = self._cache.ask(flow.request.method, tap.url, body)
        tap.replayed = self._cache.earlier(tap.asking)
        return None if tap.replayed is None else _response(tap.replayed)

    def end(self, flow: http.HTTPFlow, ongoing: Ongoing, error: str | None) -> bool:
        """Record a call that is over; return whether the agent has ended its task by it."""
        tap, response = ongoing.llm, flow.response
        if tap is None:
            return False
        if ongoing.by_warex and response is not None and tap.first_byte is None:
            tap.add(response.raw_content or b"", self._recorder.clock.now())
        headers = http.Headers() if response is None else response.headers
        call = read_call(
            tap,
            ongoing.exchange.id,
            status=None if response is None else response.status_code,
            content_type=headers.get("content-type", ""),
            content_encoding=headers.get("content-encoding", ""),
            error=error,
            now=self._recorder.clock.now(),
            vocabulary=self._config.vocabulary,
            progress=self.progress,
            blobs=self._recorder.blobs,
        )
        self._recorder.write(call.event)
        for action in call.actions:
            self._recorder.write(action)
        self._keep(tap, call.event, headers, by_model=not ongoing.by_warex and error is None)
        return call.final

    def _keep(self, tap: LlmTap, event: LlmCall, headers: http.Headers, *, by_model: bool) -> None:
        """Keep a new answer of the model's own that is complete."""
        if self._cache is None or tap.asking is None or tap.replayed is not None:
            return
        # A kept answer is given again as it was: one with a secret in it is not kept at all.
        whole = event.status == 200 and event.complete and not _holds_a_secret(event)
        if not (whole and by_model) or tap.last_byte is None:
            self._cache.give_up(tap.asking)
            return
        kept = tuple((name, headers[name]) for name in _KEPT_HEADERS if name in headers)
        latency = round(tap.last_byte - tap.asked_at, 6)
        self._cache.keep(tap.asking, KeptAnswer(kept, bytes(tap.body), latency))


def _holds_a_secret(event: LlmCall) -> bool:
    return redact_text(event.answer) != event.answer or REDACTED in str(event.tool_calls)


def _cache_of(config: ProxyConfig) -> LlmCache | None:
    if config.llm_cache is None or config.out is None:
        return None
    return open_llm_cache(config.llm_cache.cache, config.llm_cache.shared, config.out)


def _response(answer: KeptAnswer) -> http.Response:
    """Return a kept answer as one to give, all of it at once."""
    response = http.Response.make(200, b"", dict(answer.headers))
    # Not through ``content``, which would compress it once more.
    response.raw_content = answer.body
    response.headers["content-length"] = str(len(answer.body))
    return response
