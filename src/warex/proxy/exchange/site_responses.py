"""What is read and changed of the sites' responses, on mitmproxy's flows."""

from collections.abc import Callable, Iterable
from functools import partial

from mitmproxy import http

from warex.effects import OtherPage, ReplayFirst
from warex.engine.http.heads import Headers
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.fault_sites import FaultSites
from warex.lane.response_faults.page_change import PageChange
from warex.lane.response_faults.password_pages import page_reader, read_page
from warex.lane.response_faults.previous_responses import PreviousResponses
from warex.lane.response_faults.rewritten_pages import RewrittenPages, rewrites, unconditional
from warex.lane.response_faults.site_looks import SiteLooks
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.exchange.state import ExchangeState
from warex.scenarios import PlannedInjection, Rule

type SettleCallback = Callable[[ExchangeState, AppliedInjection, bool], None]


class SiteResponses:
    """Reads, rewrites and replays the responses of a trial's sites."""

    def __init__(self, rules: Iterable[Rule], recorder: Recorder, settle: SettleCallback) -> None:
        rules = tuple(rules)
        self._settle, self._redactor = settle, recorder.redactor
        self._previous = PreviousResponses(rules)
        self.looks = SiteLooks.of_rules(rules)
        self.fault_sites = FaultSites(recorder, self.looks.of)
        self.pages = RewrittenPages(rules, recorder, self.fault_sites.note)

    def prepare_request(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Request a response that may be changed as complete and in a readable coding."""
        url = state.exchange.request.url
        self.pages.note_request(url)
        may_rewrite = state.task.injector.may_rewrite(flow.request.method, url)
        if may_rewrite or any(map(rewrites, state.pending)):
            state.may_be_rewritten = True
            head = self.pages.prepare_request(flows.request_head(flow))
            flow.request.headers = http.Headers(head.headers.fields)

    def read_streamed(self, response: http.Response, state: ExchangeState) -> None:
        """Have the response read while it is streamed, for later faults and pages."""
        head, request = flows.response_head(response), state.exchange.request
        streamed = all(map(rewrites, state.pending))
        is_read = not (state.is_agent_request or state.from_cache)
        if streamed and is_read:
            key, resource = state.task_key, state.resource
            state.copy = self._previous.reader(key, request, resource, head)
        readers = [
            page_reader(head, self._redactor) if streamed and is_read else None,
            state.copy,
            self.looks.reader(request, head) if is_read and not state.pending else None,
            self.pages.code_reader(request.url, state.resource, head, streamed=not state.pending),
        ]
        state.rewriters += [reader for reader in readers if reader is not None]

    def read_held(self, response: http.Response, state: ExchangeState) -> None:
        """Read the fields of a page that is held complete."""
        if not state.is_agent_request:
            body = response.raw_content or b""
            read_page(flows.response_head(response), body, self._redactor)

    def rewrite_streamed(
        self, flow: http.HTTPFlow, response: http.Response, state: ExchangeState
    ) -> None:
        """Rewrite the response while it is streamed, if no other fault is applied first."""
        if not all(map(rewrites, state.pending)):
            return
        for injection in state.pending:
            applied, page = self.page_change(state, injection)
            head = flows.response_head(response)
            head = self.pages.begin(page, flows.request_head(flow), head, state.beginning)
            flows.set_head(response, head)
            state.applied.append(applied)
            if page.rewriter is not None:
                state.rewriters.append(page.rewriter)
        state.pending = []

    def page_change(
        self, state: ExchangeState, injection: PlannedInjection
    ) -> tuple[AppliedInjection, PageChange]:
        """Return the new state of an injection, with what it changes in a page."""
        applied = AppliedInjection(injection)
        settled = partial(self._settle, state, applied)
        applied.page = PageChange(injection, state.exchange, state.task.injector, settled)
        return applied, applied.page

    def apply_previous(
        self, flow: http.HTTPFlow, state: ExchangeState, applied: AppliedInjection
    ) -> None:
        """Ask for another page or answer as before, if the injection says so and there is one."""
        request, key = state.exchange.request, state.task_key
        for effect in applied.injection.effects:
            if isinstance(effect, OtherPage):
                path, draw = flow.request.path, effect.draw
                change = self._previous.other_page(key, request, path, draw)
                if change is not None and change.after is not None:
                    flow.request.path = change.after
                    headers = unconditional(Headers(flow.request.headers.fields))
                    flow.request.headers = http.Headers(headers.fields)
                    applied.site_change = change
            elif isinstance(effect, ReplayFirst):
                earlier = self._previous.first_response(key, request)
                if earlier is not None:
                    response, applied.site_change = earlier
                    flows.set_response(flow, response)
                    applied.replied = True

    def rewrite_buffered(self, flow: http.HTTPFlow, applied: AppliedInjection) -> None:
        """Rewrite a complete response, to which another fault may have been applied."""
        if applied.page is None:
            return
        self.pages.note_wall(applied.page)
        if flow.response is not None and applied.rewrites:
            whole = flows.whole_response(flow.response)
            whole = self.pages.rewrite_whole(applied.page, flows.request_head(flow), whole)
            flows.set_response(flow, whole)

    def keep_response(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Keep a complete response of the site, to be given again."""
        if flow.response is None or state.by_warex or state.is_agent_request:
            return
        strayed = any(applied.site_change for applied in state.applied)
        self._previous.note_complete(
            state.task_key,
            state.exchange.id,
            state.exchange.request,
            state.resource,
            flows.response_head(flow.response),
            "" if strayed else flow.request.path,
            state.copy,
        )

    def answer_own(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Answer a changed page's report, or a request to a fault's own site."""
        request, content = state.exchange.request, flows.content_of(flow.request)
        if self.pages.is_report(flow.request.path):
            response = self.pages.handle_report(request, flow.request.path, content)
        else:
            state.by_warex = True
            response = self.fault_sites.respond(request, content, self.pages.redeem)
        flows.set_response(flow, response)
