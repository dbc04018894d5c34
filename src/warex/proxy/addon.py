"""The mitmproxy addon that injects faults and records the trial.

One exchange: ``requestheaders`` (map the host) → ``request`` (decide; apply request faults) →
``responseheaders`` (decide by the response; stream or buffer) → ``response`` (apply response
faults) → ``warex_sent`` (an injected response is sent) or ``error``.
"""

from collections.abc import Awaitable
from dataclasses import replace

from mitmproxy import connection, http

from warex.effects import Cut
from warex.exchange import UNKNOWN_LOOK, Exchange, resource_of
from warex.lane.config import ProxyConfig
from warex.lane.own_hosts import FAULT_HOSTS, RESERVED_HOSTS, TASK_HOST, is_reserved
from warex.lane.record.fault_events import missed, record_plan, settle, skipped
from warex.lane.record.recorder import Recorder
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.kinds import Kinds
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.traffic.mcp import McpCalls, amends_response
from warex.proxy.connection_faults.idle_connections import IdleConnections
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection, apply_effects, wait_before_piece
from warex.proxy.exchange.client_status import client_status_of
from warex.proxy.exchange.paced_response import ResponseCut, paced_response_of
from warex.proxy.exchange.site_responses import SiteResponses
from warex.proxy.exchange.state import ExchangeState, attach, ending_of, state_of
from warex.proxy.hooks.base import fail_closed
from warex.proxy.hooks.pacing import PacingHooks
from warex.proxy.hooks.tunnels import is_tunnelled
from warex.proxy.hooks.websocket import WebSocketHooks
from warex.proxy.net.check import RejectedRequest
from warex.proxy.net.client_socket import reset, wait_flushed
from warex.scenarios import Injector, PlannedInjection
from warex.traces import RequestSeen, ResponseSeen

_RETRIED_STATUSES = (408, 421)
"""Statuses after which Chromium silently retries on another connection (measured; RFC 9110 §15.5.9
and §15.5.20 allow it)."""

_STREAM_THRESHOLD = 256 * 1024
"""Bytes above which a request body is streamed if no rule can concern it."""


class WarexAddon(WebSocketHooks, PacingHooks):
    """Injects a scenario's faults into one trial's exchanges, and records them all."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        super().__init__(config, injector, recorder)
        self._incomplete: dict[str, http.HTTPFlow] = {}
        """Flows whose request is not complete yet, by their id."""
        self._live: dict[str, dict[str, tuple[http.HTTPFlow, ExchangeState]]] = {}
        self.idle_connections = IdleConnections(injector, recorder.clock, self._live.__contains__)
        self.mcp = McpCalls(recorder)
        self.kinds = Kinds(self.mcp, config.traffic.llm_hosts)
        rules = injector.scenario.rules
        self.responses = SiteResponses(rules, recorder, self._settle)

    # ---- the exchange

    @fail_closed
    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Map the request to its host; stream a large body that no rule needs."""
        request = flow.request
        self.take_header(flow)
        if self.config.traffic.maps:
            target = self.host_routing.map_target(request.pretty_host, request.port)
            if target is not None:
                flows.map_remote(flow, target)
        is_plain = flow.client_conn.tls_version is None
        if flow.is_replay or (is_plain and self.is_passed_through(flow)):
            return
        if not is_reserved(host := request.pretty_host):
            self.distrust.requested(flow.client_conn.id, host)
        self._incomplete[flow.id] = flow
        if self.kinds.needs_request_body(flows.request_head(flow), flows.url_of(flow)):
            return
        if flows.is_longer(request, _STREAM_THRESHOLD):
            concerned = self.injector.may_concern(request.method, flows.url_of(flow))
            # A request that no rule concerns can be decided now. A gRPC call must be: its next
            # message may depend on the response to the previous one.
            if concerned and not flows.is_grpc(request):
                return
            state = self._begin(flow)
            stages = {injection.stage for injection in state.decision.injections}
            if not state.is_to_warex and "request" not in stages:
                request.stream = state.count_sent

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        """Record the request, decide, and apply the faults that come before the site."""
        if is_tunnelled(flow) or flow.is_replay:
            return None
        self._incomplete.pop(flow.id, None)
        state = state_of(flow) or self._begin(flow)
        if state.is_to_warex:
            return None
        self._record_request(flow, state)
        self._prepare(flow, state)
        before = [hit for hit in state.pending if hit.stage == "request" or amends_response(hit)]
        if before:
            return self._apply_before(flow, state, before)
        self._ask(flow, state)
        return None

    def _register(self, flow: http.HTTPFlow) -> ExchangeState:
        """Number the exchange, without a decision."""
        request = flows.request_of(flow)
        self.recorder.exchanges += 1
        look = self.responses.looks.of(request) if request.is_top_level else UNKNOWN_LOOK
        exchange = Exchange(f"x{self.recorder.exchanges}", request, look=look)
        resource = resource_of(request)
        own = request.parts.hostname in RESERVED_HOSTS or self.responses.pages.is_report(
            flow.request.path
        )
        main = self.tasks.main
        task, name = (main, "") if own else self.task_of(flow, request, resource)
        state = ExchangeState(
            Traffic(exchange),
            resource,
            self.connections.get(flow.client_conn.id, ""),
            task,
            name,
            client_status=client_status_of(flow),
            is_to_warex=own,
        )
        attach(flow, state)
        self._live.setdefault(flow.client_conn.id, {})[exchange.id] = (flow, state)
        self.idle_connections.used(flow)
        return state

    def _begin(self, flow: http.HTTPFlow) -> ExchangeState:
        """Number the exchange and decide what happens to it."""
        now = self.recorder.clock.now()
        state = self._register(flow)
        if state.is_to_warex:
            self._answer(flow, state)
            return state
        self.detect_task_by_request(state)
        path, body = flow.request.path, flow.request.raw_content or b""
        calls = state.task.llm_calls
        state.traffic = traffic = self.kinds.recognise(
            state.exchange, state.resource, path, body, calls
        )
        if isinstance(traffic, LlmTraffic):
            self.detect_task_by_llm_call(state, traffic.request)
            traffic.begin(state.task.llm_calls)
            self.model_asked(state.task)
        task = state.task
        state.decision = task.injector.request(state.exchange, now, llm=state.is_agent_request)
        self.record_arming(task, "first_page")
        return state

    def _record_request(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Record the request and what was decided for it, once."""
        if state.is_recorded or state.is_to_warex:
            return
        state.is_recorded = True
        request, decision = state.exchange.request, state.decision
        if state.traffic.may_be_form:
            kind = flow.request.headers.get("content-type", "")
            self.recorder.redactor.learn_form(kind, flow.request.raw_content or b"")
        self.recorder.write(
            RequestSeen(
                exchange=state.exchange.id,
                method=request.method,
                url=request.url,
                resource=state.resource,
                top_level=request.is_top_level,
                http_version=flow.request.http_version,
                connection=state.connection,
                headers=flows.header_pairs(flow.request.headers),
                size=state.request_size or len(flow.request.raw_content or b""),
                body=self.recorder.body(request.body_digest),
                operation=flows.operation_of(flow),
                repeat_of=decision.repeat_of,
                task=state.task_name,
            )
        )
        state.task.llm_calls.note_recorded(state.traffic)
        record_plan(self.recorder, decision, request.url)
        state.pending = list(decision.injections)

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Decide by the site's response; stream it unless a fault needs it complete."""
        self.tunnels.answered(flow)
        state = state_of(flow)
        if state is None or flow.response is None or state.by_warex:
            return
        self._record_request(flow, state)
        state.traffic.answered(flows.response_head(flow.response))
        self._decide_by_answer(flow, state)
        self.responses.read_streamed(flow.response, state)
        self.responses.rewrite_streamed(flow, flow.response, state)
        if not (state.pending or state.traffic.needs_whole_response):
            state.response_started = True
            flow.response.stream = state.tee
            self._expect_retry(flow, state)

    def _decide_by_answer(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        answered = replace(state.exchange, response=flows.response_of(flow))
        state.resource = resource_of(answered.request, answered.response)
        now = self.recorder.clock.now()
        decision = state.task.injector.response(answered, now, llm=state.is_agent_request)
        record_plan(self.recorder, decision, answered.request.url)
        state.pending += decision.injections

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        """Apply the faults that come after the site, or end the exchange."""
        self.tunnels.ended(flow)
        state = state_of(flow)
        if state is None or flow.response is None:
            return None
        held = state.pending or state.traffic.needs_whole_response
        if (held or state.from_cache) and not state.by_warex:
            state.response_size = len(flow.response.raw_content or b"")
            state.traffic.read_held(flows.whole_response(flow.response))
            self.responses.read_held(flow.response, state)
        if held and not state.by_warex:
            return self._apply_after(flow, state)
        if not state.awaits_sending:
            self.end(flow, state)
        return None

    @fail_closed
    async def warex_sent(self, flow: http.HTTPFlow) -> None:
        """Note whether an injected response has reached the client."""
        state = state_of(flow)
        if state is None or state.finished:
            return
        client = state.client_status
        arrived = await client.wait_sent() and await wait_flushed(flow.client_conn)
        self.end(flow, state, arrived=arrived and not client.has_reset)

    @fail_closed
    async def warex_response_cut(self, broken_off: ResponseCut) -> None:
        """Cut a response once its sent part has left."""
        flow, state = broken_off.flow, state_of(broken_off.flow)
        if state is None or state.finished:
            return
        arrived = await wait_flushed(flow.client_conn)
        if broken_off.how == "reset":
            reset(flow.client_conn)
        self.end(flow, state, arrived=arrived, error=flows.CUT)

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """End an exchange that failed: the client left, the site failed, or WAREX cut it."""
        self.tunnels.ended(flow)
        given_up = self._incomplete.pop(flow.id, None) is not None
        state = state_of(flow) or (self._register(flow) if given_up else None)
        if state is None or state.finished:
            return
        reason = flows.error_reason(flow)
        self._record_request(flow, state)
        if state.unreachable and not state.by_warex:
            site = state.exchange.request.parts
            self.on_notice(flows.unreachable_message(site, self.config.traffic.upstream, reason))
        if state.stream_refused:
            state.task.injector.died(state.exchange.id, self.recorder.clock.now())
        self.end(flow, state, arrived=False, error=reason)

    @fail_closed
    def warex_request_rejected(self, refused: RejectedRequest) -> None:
        """Record an invalid request; it is an exchange only if one has begun."""
        for flow in list(self._incomplete.values()):
            if flow.client_conn is refused.client and not flow.request.is_http2:
                del self._incomplete[flow.id]
        super().warex_request_rejected(refused)

    # ---- faults

    async def _apply_before(
        self, flow: http.HTTPFlow, state: ExchangeState, injections: list[PlannedInjection]
    ) -> None:
        await self._apply(flow, state, injections)
        self._ask(flow, state)

    def _ask(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Forward the request, unless the LLM cache has a response to it."""
        if state.by_warex or state.client_status.left.is_set():
            return
        request = flow.request
        self.responses.prepare_request(flow, state)
        head, body = flows.request_head(flow), request.raw_content or b""
        earlier = state.traffic.replay(head, body)
        if earlier is not None:
            flows.set_response(flow, earlier)
            state.from_cache = state.response_started = True
            self._decide_by_answer(flow, state)

    def _prepare(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Change the request as the condition says; raise TrialVoid if it must not be sent."""
        request, sent = flow.request, flow.request.raw_content or b""
        changed = state.traffic.prepare(flows.request_head(flow), sent)
        if changed is not sent:
            request.raw_content = changed
            if "transfer-encoding" not in request.headers:
                request.headers["content-length"] = str(len(changed))

    async def _apply_after(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        cut = await self._apply(flow, state, list(state.pending))
        wait_s = state.traffic.amendment_wait_s
        await wait_before_piece(state.applied, wait_s, state.client_status, self.recorder.clock)
        if flow.response is not None and state.traffic.needs_whole_response:
            flows.set_response(flow, state.traffic.amend(flows.whole_response(flow.response)))
        if cut or state.client_status.left.is_set():
            # mitmproxy calls no hook for a kill here: it considers the response complete.
            self.end(flow, state, arrived=False, error=flows.CUT if cut else "client left")
        elif not state.awaits_sending:
            self.end(flow, state)

    async def _apply(
        self, flow: http.HTTPFlow, state: ExchangeState, injections: list[PlannedInjection]
    ) -> bool:
        """Apply in order until the client leaves; return whether the exchange was cut."""
        for injection in injections:
            if state.finished:
                return False
            applied, page = self.responses.page_change(state, injection)
            state.pending.remove(injection)
            if not state.traffic.can_apply(injection):
                settle(self.recorder, state.task.injector, injection, "nothing_to_rewrite")
                continue
            state.applied.append(applied)
            await apply_effects(applied, flow, state.client_status, self.recorder.clock)
            if not applied.client_left:
                self.responses.apply_previous(flow, state, applied)
            self.responses.rewrite_buffered(flow, applied)
            if applied.replied or paced_response_of(flow) is not None:
                # The trace has the response that the client receives, and its times.
                state.traffic.reset()
            state.by_warex = state.by_warex or applied.replied or applied.cut
            applied.amendment = state.traffic.apply(injection, page.settle)
            if applied.cut:
                self._expect_retries_after_cut(flow, state, injection)
            if applied.done or applied.client_left:
                self._settle(state, applied, not applied.client_left)
            if applied.client_left:
                # The end of the exchange records the injections that were not applied.
                state.client_status.mark_left()
                return False
            if applied.cut:
                self._miss_pending(state, "superseded")
                return True
        self._expect_retry(flow, state)
        return False

    def _miss_pending(self, state: ExchangeState, reason: str) -> None:
        """Settle the injections that can no longer be applied."""
        for injection in state.pending:
            settle(self.recorder, state.task.injector, injection, reason)
        state.pending = []

    def _expect_retries_after_cut(
        self, flow: http.HTTPFlow, state: ExchangeState, injection: PlannedInjection
    ) -> None:
        """Expect the browser's silent retry of every exchange that our cut ended."""
        now = self.recorder.clock.now()
        dead = [state]
        if Cut("reset") in injection.effects:
            dead = [other for _, other in self._live.get(flow.client_conn.id, {}).values()]
        for other in dead:
            other.task.injector.died(other.exchange.id, now)

    def _expect_retry(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        """Expect the browser's silent retry after a status that causes one."""
        if flow.response is not None and flow.response.status_code in _RETRIED_STATUSES:
            state.task.injector.died(state.exchange.id, self.recorder.clock.now())

    def _settle(self, state: ExchangeState, applied: AppliedInjection, arrived: bool) -> None:
        """Record the outcome of an injection, once."""
        if applied not in state.applied:
            return
        state.applied.remove(applied)
        injection = applied.injection
        met = (arrived and not applied.changed_nothing) or applied.gave_up_waiting
        if met:
            state.traffic.note_delivered(injection)
        settle(
            self.recorder,
            state.task.injector,
            injection,
            None if met else applied.missed_reason,
            applied.finished_wait_s,
            client_left=applied.gave_up_waiting,
            changes=applied.changes,
            left_out=applied.changes_left_out,
        )

    # ---- the end of an exchange

    def end(
        self,
        flow: http.HTTPFlow,
        state: ExchangeState,
        *,
        arrived: bool = True,
        error: str | None = None,
    ) -> None:
        """Record the end of an exchange, once."""
        if state.finished:
            return
        state.finished = True
        live = self._live.get(flow.client_conn.id, {})
        live.pop(state.exchange.id, None)
        if not live:
            self._live.pop(flow.client_conn.id, None)
        if state.is_to_warex:
            return
        # A response that breaks off counts: the client has its head.
        answered = flow.response is not None and (error is None or state.response_started)
        response = flow.response if answered else None
        if flow.response is not None and state.by_warex:
            state.response_size = len(flow.response.raw_content or b"")
        self.recorder.write(
            ResponseSeen(
                exchange=state.exchange.id,
                status=response.status_code if response else None,
                resource=state.resource,
                by=state.answered_by(by_site=answered),
                http_version=response.http_version if response else None,
                headers=flows.header_pairs(response.headers) if response else [],
                size=state.response_size,
                timings=flows.timings_of(flow, self.recorder.clock.wall()),
                error=error,
            )
        )
        if error is None and arrived:
            self.responses.keep_response(flow, state)
        ending = ending_of(flow, state, error)
        state.traffic.keep_open(ending)
        for applied in [it for it in state.applied if not it.outlives_exchange(arrived=arrived)]:
            self._settle(state, applied, arrived)
        self._miss_pending(state, "client_gone")
        if state.traffic.end(ending):
            self.task_ended(state.task)
        state.task.injector.finish(state.exchange.id)

    # ---- arming and the end of a task

    def arm(self) -> None:
        """Apply faults and count from here on, as the control API asks."""
        self.injector.arm()
        self.record_arming(self.tasks.main, "control")

    def disarm(self) -> None:
        """Apply no faults from here on, as the control API asks."""
        self.disarm_task(self.tasks.main, "control")

    @fail_closed
    def client_disconnected(self, client: connection.Client) -> None:
        """Mark the client's exchanges as left; record the bytes that were passed through."""
        for _, state in self._live.get(client.id, {}).values():
            state.client_status.mark_left()
        self.idle_connections.forget(client)
        self.certificate_rejections.closed(client.id)
        self.distrust.closed(client.id, self.recorder.clock.now())
        self.connections.pop(client.id, None)
        self.forget_client(client.id)
        self.tunnels.disconnected(client)

    def _answer(self, flow: http.HTTPFlow, state: ExchangeState) -> None:
        host = state.exchange.request.parts.hostname
        if self.responses.pages.is_report(flow.request.path) or host in FAULT_HOSTS:
            self.responses.answer_own(flow, state)
        elif host == TASK_HOST:
            self.answer_marker(flow, state)
        else:
            self.answer_canary(flow, state)

    def finish(self) -> None:
        """Settle the open exchanges at the end of the trial."""
        page_was_read = self.recorder.traffic.browser
        distrusted = self.distrust.at_the_end(page_was_read=page_was_read)
        if distrusted is not None and self.recorder.broken is None:
            self.recorder.harness_broke(distrusted)
        now = self.recorder.clock.now()
        for flow in self._incomplete.values():
            if state_of(flow) is None:
                self._register(flow)
        for exchanges in list(self._live.values()):
            for flow, state in list(exchanges.values()):
                self._record_request(flow, state)
                for it in [*state.applied, *map(AppliedInjection, state.pending)]:
                    self.recorder.write(missed(it.injection, "trial_over", it.waited(now)))
                state.applied, state.pending = [], []
                self.end(flow, state, arrived=False, error="the trial ended")
        self.mcp.finish()
        self.responses.pages.finish()
        self.connection_tries.finish()
        for task in self.tasks.all():
            for event in skipped(task.injector):
                self.recorder.write(event)
