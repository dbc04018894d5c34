"""The responses that faults rewrite; a page reports when its change is shown."""

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Final

from mitmproxy import http
from pydantic import JsonValue

from warex.effects import Reply, Rewrite, WallExit
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection, make_response
from warex.proxy.exchange.state import ExchangeState
from warex.proxy.net.encoding import StreamDecoder
from warex.proxy.record.recorder import Recorder
from warex.proxy.response_faults.identifiers import MENTIONS, NAMES, UsedIdentifiers
from warex.proxy.response_faults.stream_rewriter import DecompressionBomb, start_rewriter
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.scenarios import PlannedInjection, Rule
from warex.traces import Witness

SHOWN: Final = "shown"
"""The report of a page whose change is visible."""
NOTHING: Final = "nothing"
"""The report of a page without anything to change."""
CLEARED: Final = "cleared"
"""Recorded when a client passes a wall."""
TEXTS: Final = "texts"
"""The report of a page with its texts, to have some of them changed."""
_VISITED: Final = "visited"
"""Recorded when a client opens a report address as a page."""
_PAGE: Final = (
    b"<!doctype html><html lang=en><title>Thank you</title><h1>Thank you</h1>"
    b"<p>This step is done. You can go back now.</p></html>"
)
"""The page at a report address."""
_MAX_REPORT: Final = 300
"""Bytes of a report that are kept."""

type RewriteCallback = Callable[[ExchangeState, PlannedInjection], None]
type SettleCallback = Callable[[ExchangeState, AppliedInjection, bool], None]


def rewrites(injection: PlannedInjection) -> bool:
    """Whether an injection only changes the response while it is streamed."""
    return all(effect.traits.rewrites for effect in injection.effects)


def _changed(applied: AppliedInjection, texts: str) -> JsonValue:
    """Return the changes of a page's texts, and keep them for the trace."""
    edits = [it.edit for it in applied.injection.effects if isinstance(it, Rewrite)]
    for edit in edits:
        if isinstance(edit, InjectedScript) and edit.answers is not None:
            answer, applied.reported_changes = edit.answers.answer(texts)
            return answer
    return []


class RewrittenPages:
    """The changed pages of a trial, and their reports."""

    def __init__(
        self,
        rules: Iterable[Rule],
        recorder: Recorder,
        settle: SettleCallback,
        on_rewrite: RewriteCallback,
    ) -> None:
        if any(rule.fault.changes_page for rule in rules):
            # Import it now, so that the first page does not wait.
            import_module("warex.rewriting.html_body.head_inserter")
        self._mentioned = UsedIdentifiers(rules)
        self._recorder = recorder
        self._settle = settle
        self._on_rewrite = on_rewrite
        self._pages: dict[str, tuple[ExchangeState, AppliedInjection]] = {}
        """By the path of each page's reports or of a link in it."""
        self._walls: dict[str, tuple[ExchangeState, AppliedInjection, WallExit]] = {}
        """The walls of the trial, by the path of each exit."""

    def prepare_request(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Request a response that may be changed as complete and in a readable coding."""
        self._mentioned.note_request(state)
        request = flow.request
        if not (
            any(map(rewrites, state.pending))
            or state.task.injector.may_rewrite(request.method, state.exchange.request.url)
        ):
            return
        state.may_be_rewritten = True
        flows.drop_conditional_headers(request.headers)
        if "accept-encoding" in request.headers:
            offered = request.headers["accept-encoding"].split(",")
            read = [it.strip() for it in offered if StreamDecoder.reads(it.partition(";")[0])]
            request.headers["accept-encoding"] = ", ".join(read) or "identity"

    def begin(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Rewrite the response while it is streamed, if no other fault is applied first."""
        self._mentioned.watch_response(flow, state)
        if not all(map(rewrites, state.pending)):
            return
        for injection in state.pending:
            applied = AppliedInjection(injection)
            state.applied.append(applied)
            self._begin(flow, state, applied)
            if applied.rewriter is not None:
                state.rewriters.append(applied.rewriter)
        state.pending = []

    def rewrite_buffered(
        self, flow: http.HTTPFlow, state: ExchangeState, applied: AppliedInjection
    ) -> None:
        """Rewrite a buffered response, to which another fault was applied; register a wall."""
        for effect in applied.injection.effects:
            if isinstance(effect, Reply) and effect.wall_exit is not None:
                self._walls[effect.wall_exit.path] = state, applied, effect.wall_exit
        self._begin(flow, state, applied)
        if applied.rewriter is not None and flow.response is not None:
            body = b"".join(applied.rewriter.feed(flow.response.raw_content or b""))
            flow.response.headers.pop("transfer-encoding", None)
            # ``content`` would encode a body that is still encoded.
            flow.response.raw_content = body + applied.rewriter.close()
            if flow.request.method != "HEAD":
                flow.response.headers["content-length"] = str(len(flow.response.raw_content))

    def _begin(self, flow: http.HTTPFlow, state: ExchangeState, applied: AppliedInjection) -> None:
        for effect in applied.injection.effects:
            if isinstance(effect, Rewrite):
                beginning = state.beginning or (flow.response and flow.response.raw_content) or b""
                try:
                    applied.rewriter = start_rewriter(flow, effect.edit, beginning)
                except DecompressionBomb:
                    applied.met_bomb = True
                if applied.rewriter is None:
                    continue
                self._on_rewrite(state, applied.injection)
                if effect.beacon_path:
                    self._pages[effect.beacon_path] = state, applied
                if effect.edit.report:
                    applied.awaits_report = True
                    self._pages[effect.edit.report] = state, applied

    def is_report(self, flow: http.HTTPFlow) -> bool:
        """Whether a request is a changed page's report or passes a wall."""
        return flow.request.path in self._pages or flow.request.path in self._walls

    def handle_report(self, flow: http.HTTPFlow) -> None:
        """Record and answer a report, or a visit to a link in a changed page."""
        if flow.request.path in self._walls:
            self._clear_wall(flow)
            return
        state, applied = self._pages[flow.request.path]
        if flow.request.method in ("GET", "HEAD"):
            what, detail = _VISITED, ""
            headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
            flow.response = make_response(flow.request, 200, headers, _PAGE)
        else:
            sent = flows.content_of(flow.request)
            asked, _, text = sent.decode("utf-8", "replace").partition("\n")
            if asked in (MENTIONS, NAMES, TEXTS):
                if asked == TEXTS:
                    answer = _changed(applied, text)
                else:
                    answer = list(self._mentioned.handle_report(asked, text))
                headers = {"content-type": "application/json", "cache-control": "no-store"}
                body = json.dumps(answer).encode()
                flow.response = make_response(flow.request, 200, headers, body)
                return
            what, _, detail = sent[:_MAX_REPORT].decode("utf-8", "replace").partition("\n")
            flow.response = http.Response.make(204)
        self._record(state, applied, what, detail)
        applied.found_nothing |= what == NOTHING
        if what == SHOWN:
            applied.awaits_report = False
            self._settle(state, applied, True)

    def _record(
        self, state: ExchangeState, applied: AppliedInjection, what: str, detail: str = ""
    ) -> None:
        exchange, injection = state.exchange.id, applied.injection.id
        self._recorder.write(
            Witness(exchange=exchange, injection=injection, what=what, detail=detail)
        )
        state.task.injector.note_report(applied.injection, state.exchange, what)

    def _clear_wall(self, flow: http.HTTPFlow) -> None:
        """Redirect back to the page; the wall is removed only for a POST of its form."""
        state, applied, wall_exit = self._walls[flow.request.path]
        headers = {"location": wall_exit.back, "cache-control": "no-store"}
        if flow.request.method == "POST":
            headers["set-cookie"] = f"{wall_exit.cookie}; Path=/; HttpOnly; SameSite=Lax"
            self._record(state, applied, CLEARED)
        flow.response = http.Response.make(303, b"", headers)

    def finish(self) -> None:
        """Settle the pages without a report at the end of the trial."""
        for state, applied in self._pages.values():
            if applied.awaits_report:
                applied.awaits_report = False
                self._settle(state, applied, False)
