"""The responses that faults rewrite; a page reports when its change is shown."""

import json
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Final

from mitmproxy import http
from pydantic import JsonValue

from warex.effects import Reply, Rewrite, WallExit
from warex.lane.record.recorder import Recorder
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import (
    MAX_CHANGES,
    AppliedInjection,
    make_response,
    reported_value,
)
from warex.proxy.exchange.state import ExchangeState
from warex.proxy.net.encoding import StreamDecoder
from warex.proxy.response_faults.identifiers import UsedIdentifiers
from warex.proxy.response_faults.page_reports import (
    CHANGED,
    NOTHING,
    QUERIES,
    REMOVED,
    SHOWN,
    TEXTS,
    PageReport,
    ReportChannel,
    read_changes,
    read_query,
)
from warex.proxy.response_faults.stream_rewriter import DecompressionBomb, start_rewriter
from warex.rewriting.base import Edit
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.scenarios import PlannedInjection, Rule
from warex.traces import ChangedValue, Witness

_CLEARED: Final = "cleared"
"""Recorded when a client passes a wall."""
_VISITED: Final = "visited"
"""Recorded when a client opens a link that only a changed page has."""
_FORGED: Final = "forged"
"""Recorded once for each page in whose place somebody else reports, or repeats its report."""
_PAGE: Final = (
    b"<!doctype html><html lang=en><title>Thank you</title><h1>Thank you</h1>"
    b"<p>This step is done. You can go back now.</p></html>"
)
"""The page behind such a link."""
_KEY_BYTES: Final = 16

type RewriteCallback = Callable[[ExchangeState, PlannedInjection], None]
type SettleCallback = Callable[[ExchangeState, AppliedInjection, bool], None]


def rewrites(injection: PlannedInjection) -> bool:
    """Whether an injection only changes the response while it is streamed."""
    return all(effect.traits.rewrites for effect in injection.effects)


@dataclass(frozen=True, slots=True)
class _Page:
    """A changed page that reports."""

    state: ExchangeState
    applied: AppliedInjection
    edit: Edit
    channel: ReportChannel


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
        self._pages: dict[str, _Page] = {}
        """By the path of each page's reports."""
        self._links: dict[str, tuple[ExchangeState, AppliedInjection]] = {}
        """By the path of each link that only a changed page has."""
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
                # A key that followed from the seed could be computed by whoever guesses the seed.
                channel = ReportChannel(secrets.token_hex(_KEY_BYTES))
                edit = effect.edit
                if isinstance(edit, InjectedScript):
                    edit = edit.with_key(channel.key)
                beginning = state.beginning or (flow.response and flow.response.raw_content) or b""
                try:
                    applied.rewriter = start_rewriter(flow, edit, beginning)
                except DecompressionBomb:
                    applied.met_bomb = True
                if applied.rewriter is None:
                    continue
                self._on_rewrite(state, applied.injection)
                if effect.beacon_path:
                    self._links[effect.beacon_path] = state, applied
                if edit.report:
                    applied.awaits_report = True
                    self._pages[edit.report] = _Page(state, applied, edit, channel)

    def is_report(self, flow: http.HTTPFlow) -> bool:
        """Whether a request is a changed page's report, opens its link, or passes a wall."""
        path = flow.request.path
        return path in self._pages or path in self._links or path in self._walls

    def handle_report(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Record and answer a report, or a visit to a link in a changed page."""
        path = flow.request.path
        if path in self._walls:
            self._clear_wall(flow)
        elif path in self._pages:
            flow.response = self._report(flow, self._pages[path])
        else:
            headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
            flow.response = make_response(flow.request, 200, headers, _PAGE)
            by = state.exchange.request.asked_by
            if by is not None:
                self._record(*self._links[path], PageReport(_VISITED, by, "", ""))

    def redeem(self, ticket: str) -> Witness | None:
        """Return what a ticket that a changed page gave to a request proves; None if nothing."""
        path, _, sent = ticket.partition("\n")
        page = self._pages.get(path)
        report = page.channel.read(sent.encode("utf-8", "replace")) if page else None
        if page is None or report is None:
            return None
        exchange, injection = page.state.exchange.id, page.applied.injection.id
        return Witness(exchange=exchange, injection=injection, what=report.what, by=report.by)

    def _report(self, flow: http.HTTPFlow, page: _Page) -> http.Response:
        sent = flows.content_of(flow.request)
        report = page.channel.read(sent) if flow.request.method == "POST" else None
        if report is None:
            if not page.channel.has_forged:
                page.channel.has_forged = True
                self._record(page.state, page.applied, PageReport(_FORGED, "", "", ""))
            return http.Response.make(204)
        if report.what in QUERIES:
            # A sandboxed page has no origin of its own.
            headers = {"content-type": "application/json", "cache-control": "no-store"}
            headers["access-control-allow-origin"] = "*"
            body = json.dumps(self._answer(page, report)).encode()
            return make_response(flow.request, 200, headers, body)
        self._take(page, report)
        return http.Response.make(204)

    def _answer(self, page: _Page, report: PageReport) -> JsonValue:
        text = read_query(report.payload)
        if report.what != TEXTS:
            return list(self._mentioned.handle_report(report.what, text))
        if not isinstance(page.edit, InjectedScript) or page.edit.answers is None:
            return []
        answer, page.applied.reported_changes = page.edit.answers.answer(text)
        return answer

    def _take(self, page: _Page, report: PageReport) -> None:
        state, applied = page.state, page.applied
        reported, left_out = read_changes(report.payload)
        if report.what == CHANGED:
            room = MAX_CHANGES - len(applied.reported_changes)
            kept = [reported_value(it) for it in reported[: max(0, room)]]
            applied.reported_changes = (*applied.reported_changes, *reported[: len(kept)])
            left_out += len(reported) - len(kept)
            self._record(state, applied, report, changes=kept, left_out=left_out)
            return
        if isinstance(page.edit, InjectedScript):
            detail = dict(page.edit.details).get(report.detail, "")
            report = replace(report, detail=detail)
        self._record(state, applied, report)
        applied.found_nothing |= report.what == NOTHING
        applied.removed_by_page |= report.what == REMOVED
        if report.what == SHOWN:
            if isinstance(page.edit, InjectedScript):
                applied.shown = page.edit.shows
            applied.reported_changes = (*applied.reported_changes, *reported)
            applied.left_out = left_out
        if report.what in (SHOWN, REMOVED):
            applied.awaits_report = False
            self._settle(state, applied, report.what == SHOWN)

    def _record(
        self,
        state: ExchangeState,
        applied: AppliedInjection,
        report: PageReport,
        changes: Sequence[ChangedValue] = (),
        left_out: int = 0,
    ) -> None:
        self._recorder.write(
            Witness(
                exchange=state.exchange.id,
                injection=applied.injection.id,
                what=report.what,
                detail=report.detail,
                by=report.by,
                changes=list(changes),
                left_out=left_out,
            )
        )
        state.task.injector.note_report(applied.injection, state.exchange, report.what)

    def _clear_wall(self, flow: http.HTTPFlow) -> None:
        """Redirect back to the page; the wall is removed only for a POST of its form."""
        state, applied, wall_exit = self._walls[flow.request.path]
        headers = {"location": wall_exit.back, "cache-control": "no-store"}
        if flow.request.method == "POST":
            headers["set-cookie"] = f"{wall_exit.cookie}; Path=/; HttpOnly; SameSite=Lax"
            self._record(state, applied, PageReport(_CLEARED, "", "", ""))
        flow.response = http.Response.make(303, b"", headers)

    def finish(self) -> None:
        """Settle the pages without a report at the end of the trial."""
        for page in self._pages.values():
            if page.applied.awaits_report:
                page.applied.awaits_report = False
                self._settle(page.state, page.applied, False)
