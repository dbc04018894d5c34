"""Replays an earlier response of a site, or requests another of its pages."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from mitmproxy import http

from warex.effects import OtherPage, ReplayFirst
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.exchange.state import ExchangeState
from warex.scenarios import Rule
from warex.traces import ChangedValue

_MOST_PAGES: Final = 50
_MOST_ANSWERS: Final = 64
_KINDS: Final = ("document", "xhr")

type _TaskKey = tuple[str, int]
"""The name and seed of a task: tasks do not share responses."""


class _Answer(NamedTuple):
    exchange: str
    headers: http.Headers
    body: bytes


class PreviousResponses:
    """The first response of each URL and the pages of each host, if a rule's fault needs them."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        given_again = {rule.fault.gives_again for rule in rules}
        self._wants_pages = "page" in given_again
        self._wants_answers = "answer" in given_again
        self._pages: dict[tuple[_TaskKey, str], list[str]] = {}
        """The paths of the pages of each host."""
        self._answers: dict[tuple[_TaskKey, str], _Answer] = {}

    def begin(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Copy a response that may be replayed, while it is streamed."""
        if not self._wants_answers or not _is_whole(flow, state):
            return
        known = (_task_key(state), state.exchange.request.url) in self._answers
        if not known and len(self._answers) < _MOST_ANSWERS:
            state.copied_body = bytearray()

    def end(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Keep a complete response and its page."""
        if flow.response is None or not _is_whole(flow, state):
            return
        request = state.exchange.request
        if state.copied_body is not None:
            headers = flow.response.headers.copy()
            answer = _Answer(state.exchange.id, headers, bytes(state.copied_body))
            self._answers.setdefault((_task_key(state), request.url), answer)
            state.copied_body = None
        strayed = any(applied.site_change for applied in state.applied)
        if self._wants_pages and request.is_top_level and not strayed:
            pages = self._pages.setdefault((_task_key(state), request.parts.netloc), [])
            if flow.request.path not in pages and len(pages) < _MOST_PAGES:
                pages.append(flow.request.path)

    def apply(self, flow: http.HTTPFlow, state: ExchangeState, applied: AppliedInjection) -> None:
        """Apply the injection's effects, if there is an earlier response or page."""
        if applied.client_left:
            return
        for effect in applied.injection.effects:
            match effect:
                case OtherPage(draw):
                    self._request_other_page(flow, state, applied, draw)
                case ReplayFirst():
                    self._serve_previous(flow, state, applied)
                case _:
                    pass

    def _request_other_page(
        self, flow: http.HTTPFlow, state: ExchangeState, applied: AppliedInjection, draw: float
    ) -> None:
        asked, request = flow.request.path, state.exchange.request
        known = self._pages.get((_task_key(state), request.parts.netloc), ())
        pages = [path for path in known if path != asked]
        if not pages or request.method != "GET":
            return
        flow.request.path = pages[int(draw * len(pages))]
        flows.drop_conditional_headers(flow.request.headers)
        applied.site_change = ChangedValue(where="page", before=asked, after=flow.request.path)

    def _serve_previous(
        self, flow: http.HTTPFlow, state: ExchangeState, applied: AppliedInjection
    ) -> None:
        request = state.exchange.request
        found = self._answers.get((_task_key(state), request.url))
        if found is None or request.method != "GET":
            return
        flow.response = http.Response.make(200, found.body)
        flow.response.headers = found.headers.copy()
        # An old cookie may end the current session.
        for name in ("set-cookie", "transfer-encoding", "content-length"):
            flow.response.headers.pop(name, None)
        flow.response.headers["content-length"] = str(len(found.body))
        flow.response.headers["cache-control"] = "no-store"
        applied.site_change = ChangedValue(where="answer", before="", after=found.exchange)
        applied.replied = True


def _task_key(state: ExchangeState) -> _TaskKey:
    return state.task_name, state.task.injector.seed


def _is_whole(flow: http.HTTPFlow, state: ExchangeState) -> bool:
    """Whether the response is the site's own, of status 200, to a GET of a document or XHR."""
    return (
        flow.response is not None
        and flow.response.status_code == 200
        and flow.request.method == "GET"
        and state.resource in _KINDS
        and not (state.by_warex or state.is_to_warex or state.is_agent_request)
    )
