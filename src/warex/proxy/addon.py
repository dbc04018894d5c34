"""The mitmproxy addon that injects faults and records the trial.

One exchange: ``requestheaders`` (where to) → ``request`` (decide; strike before the site) →
``responseheaders`` (decide by the answer; stream or hold) → ``response`` (strike after the site)
→ ``warex_sent`` (an injected answer is out) or ``error``.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import override

import msgspec
from mitmproxy import connection, http

from warex.effects import Cut
from warex.exchange import Exchange, resource_of
from warex.proxy.config import ProxyConfig
from warex.proxy.connection_faults.idle_connections import IdleConnections
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection, apply_effects
from warex.proxy.exchange.client_status import client_status_of
from warex.proxy.exchange.llm_calls import may_be_llm_call
from warex.proxy.exchange.mcp_calls import McpCalls, amends_response
from warex.proxy.exchange.paced_response import paced_response_of
from warex.proxy.exchange.state import ExchangeState, attach, state_of
from warex.proxy.exchange.tasks import TASK_HOST, Task
from warex.proxy.hooks.base import fail_closed
from warex.proxy.hooks.pacing import PacingHooks
from warex.proxy.hooks.task_attribution import TaskHooks
from warex.proxy.hooks.tunnels import is_tunnelled
from warex.proxy.hooks.websocket import WebSocketHooks
from warex.proxy.interception import RESERVED_HOSTS
from warex.proxy.net.check import RejectedRequest
from warex.proxy.net.client_socket import wait_flushed
from warex.proxy.record.fault_events import delivered, missed, planned
from warex.proxy.record.recorder import Recorder
from warex.proxy.response_faults.fault_sites import FAULT_HOSTS, FaultSites
from warex.proxy.response_faults.previous_responses import PreviousResponses
from warex.proxy.response_faults.rewritten_pages import RewrittenPages
from warex.scenarios import Decision, Injector, PlannedInjection
from warex.traces import FaultMissed, RequestSeen, ResponseSeen
from warex.traces.redaction.structured import redact_url

_RETRIED_STATUSES = (408, 421)
"""Answers after which Chromium silently sends the request again on another connection (measured;
RFC 9110 §15.5.9 and §15.5.20 allow it)."""

_STREAM_THRESHOLD = 256 * 1024
"""Bytes of a request's body from which it is streamed, where no rule can be about it."""


class WarexAddon(TaskHooks, PacingHooks, WebSocketHooks):
    """Injects a scenario's faults into one trial's exchanges, and records them all."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        super().__init__(config, injector, recorder)
        self._arriving: dict[str, http.HTTPFlow] = {}
        """Flows whose request has not come whole yet, by their id."""
        self._live: dict[str, dict[str, tuple[http.HTTPFlow, ExchangeState]]] = {}
        self.closing = IdleConnections(injector, recorder.clock, self._live.__contains__)
        self.on_model_asked: Callable[[], None] = lambda: None
        """Called before an LLM request goes on; raises where it must not."""
        self.tools = McpCalls(recorder)
        rules = injector.scenario.rules
        self.earlier = PreviousResponses(rules)
        self.own_sites = FaultSites(recorder)
        self.rewrites = RewrittenPages(rules, recorder, self._met, self.own_sites.leads)

    # ---- the exchange

    @fail_closed
    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Send the request where it belongs; stream a large body that nobody needs to see."""
        request = flow.request
        self.take_header(flow)
        if self.config.traffic.maps:
            target = self.interception.target(request.pretty_host, request.port)
            if target is not None:
                flows.map_remote(flow, target)
        if flow.is_replay or (flow.client_conn.tls_version is None and self.is_passed(flow)):
            return
        self._arriving[flow.id] = flow
        if may_be_llm_call(request.method, request.path) or self.tools.keeps(flow):
            return
        if flows.is_longer(request, _STREAM_THRESHOLD):
            concerned = self.injector.may_concern(request.method, flows.url_of(flow))
            # What no rule is about may be decided now, since nothing strikes it; a gRPC call must
            # be, since its next message may wait for an answer to the last.
            if concerned and not flows.is_grpc(request):
                return
            ongoing = self._begin(flow)
            if not ongoing.own and all(it.stage != "request" for it in ongoing.decision.injections):
                request.stream = ongoing.count_sent

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        """Record the request, decide, and strike if the fault comes before the site."""
        if is_tunnelled(flow) or flow.is_replay:
            return None
        self._arriving.pop(flow.id, None)
        ongoing = state_of(flow) or self._begin(flow)
        if ongoing.own:
            return None
        self._note(flow, ongoing)
        ongoing.task.models.defend(flow, ongoing)
        before = [hit for hit in ongoing.waiting if hit.stage == "request" or amends_response(hit)]
        if before:
            return self._strike_before(flow, ongoing, before)
        self._ask(flow, ongoing)
        return None

    def _number(self, flow: http.HTTPFlow) -> ExchangeState:
        """Number the exchange; nothing is decided for it yet."""
        request = flows.request_of(flow)
        self.recorder.exchanges += 1
        exchange = Exchange(f"x{self.recorder.exchanges}", request)
        resource = resource_of(request)
        own = request.parts.hostname in RESERVED_HOSTS or self.rewrites.hears(flow)
        main = self.tasks.main
        task, name = (main, "") if own else self.task_of(flow, request, resource)
        ongoing = ExchangeState(
            exchange,
            resource,
            self.connections.get(flow.client_conn.id, ""),
            task,
            name,
            presence=client_status_of(flow),
            own=own,
        )
        attach(flow, ongoing)
        self._live.setdefault(flow.client_conn.id, {})[exchange.id] = (flow, ongoing)
        self.closing.used(flow)
        return ongoing

    def _begin(self, flow: http.HTTPFlow) -> ExchangeState:
        """Number the exchange and decide what happens to it."""
        now = self.recorder.clock.now()
        ongoing = self._number(flow)
        if ongoing.own:
            self._answer(flow, ongoing)
            return ongoing
        self.tell_by_request(ongoing)
        call = ongoing.task.models.recognise(flow, ongoing)
        if call is not None:
            self.tell_by_call(ongoing, call)
            ongoing.task.models.follow(ongoing, call, now)
            self.model_asked(ongoing.task)
        else:
            self.tools.recognise(flow, ongoing, now)
        task = ongoing.task
        ongoing.decision = task.injector.request(ongoing.exchange, now, llm=ongoing.of_agent)
        self.note_arming(task, "first_page")
        return ongoing

    def _note(self, flow: http.HTTPFlow, ongoing: ExchangeState) -> None:
        """Record the request and what was decided for it, once."""
        if ongoing.noted or ongoing.own:
            return
        ongoing.noted = True
        request, decision = ongoing.exchange.request, ongoing.decision
        self.recorder.write(
            RequestSeen(
                exchange=ongoing.exchange.id,
                method=request.method,
                url=redact_url(request.url),
                resource=ongoing.resource,
                top_level=request.is_top_level,
                http_version=flow.request.http_version,
                connection=ongoing.connection,
                headers=flows.header_pairs(flow.request.headers),
                size=ongoing.sent or len(flow.request.raw_content or b""),
                body=self.recorder.body(request.body_digest),
                operation=flows.operation_of(flow),
                repeat_of=decision.repeat_of,
                task=ongoing.task_name,
            )
        )
        ongoing.task.models.note_unread(ongoing)
        ongoing.task.models.note_retry(ongoing)
        self._plan(ongoing, decision)
        ongoing.waiting = list(decision.injections)

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Decide by the site's answer; stream it unless a fault needs it whole."""
        self.tunnels.answered(flow)
        ongoing = state_of(flow)
        if ongoing is None or flow.response is None or ongoing.by_warex:
            return
        self._note(flow, ongoing)
        self.tools.answered(flow, ongoing)
        self._decide_by_answer(flow, ongoing)
        self.rewrites.begin(flow, ongoing)
        if not (ongoing.waiting or self.tools.holds(flow, ongoing)):
            ongoing.answering = True
            self.earlier.begin(flow, ongoing)
            flow.response.stream = ongoing.tee(self.recorder.clock)
            self._expect_repeat(flow, ongoing)

    def _decide_by_answer(self, flow: http.HTTPFlow, ongoing: ExchangeState) -> None:
        answered = replace(ongoing.exchange, response=flows.response_of(flow))
        ongoing.resource = resource_of(answered.request, answered.response)
        now = self.recorder.clock.now()
        decision = ongoing.task.injector.response(answered, now, llm=ongoing.of_agent)
        self._plan(ongoing, decision)
        ongoing.waiting += decision.injections

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        """Strike if the fault comes after the site; otherwise the exchange is over."""
        self.tunnels.ended(flow)
        ongoing = state_of(flow)
        if ongoing is None or flow.response is None:
            return None
        if (ongoing.waiting or ongoing.from_cache) and not ongoing.by_warex:
            ongoing.received = len(flow.response.raw_content or b"")
            ongoing.task.models.came(flow, ongoing)
        held = ongoing.waiting or self.tools.holds(flow, ongoing)
        if held and not ongoing.by_warex:
            return self._strike_after(flow, ongoing)
        if not ongoing.awaits_sending:
            self.end(flow, ongoing)
        return None

    @fail_closed
    async def warex_sent(self, flow: http.HTTPFlow) -> None:
        """Note whether an injected answer has reached the client."""
        ongoing = state_of(flow)
        if ongoing is None or ongoing.finished:
            return
        presence = ongoing.presence
        arrived = await presence.all_let_go() and await wait_flushed(flow.client_conn)
        self.end(flow, ongoing, arrived=arrived and not presence.has_reset)

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """The exchange broke: the client left, the site failed, or we cut it."""
        self.tunnels.ended(flow)
        given_up = self._arriving.pop(flow.id, None) is not None
        ongoing = state_of(flow) or (self._number(flow) if given_up else None)
        if ongoing is None or ongoing.finished:
            return
        reason = flows.error_reason(flow)
        self._note(flow, ongoing)
        if ongoing.unreachable and not ongoing.by_warex:
            site = ongoing.exchange.request.parts
            self.notices(flows.unreachable_message(site, self.config.traffic.upstream, reason))
        if ongoing.is_refused:
            ongoing.task.injector.died(ongoing.exchange.id, self.recorder.clock.now())
        self.end(flow, ongoing, arrived=False, error=reason)

    @fail_closed
    def warex_refused(self, refused: RejectedRequest) -> None:
        """Record a request that no site would take; it is no exchange unless one has begun."""
        for flow in list(self._arriving.values()):
            if flow.client_conn is refused.client and not flow.request.is_http2:
                del self._arriving[flow.id]
        super().warex_refused(refused)

    # ---- faults

    def _plan(self, ongoing: ExchangeState, decision: Decision) -> None:
        """Record what was decided."""
        if not (decision.injections or decision.superseded):
            return
        url = redact_url(ongoing.exchange.request.url)
        for injection in decision.injections:
            self.recorder.write(planned(injection, url))
        for injection in decision.superseded:
            self.recorder.write(planned(injection, url))
            self.recorder.write(missed(injection, "superseded"))

    async def _strike_before(
        self, flow: http.HTTPFlow, ongoing: ExchangeState, injections: list[PlannedInjection]
    ) -> None:
        await self._strike(flow, ongoing, injections)
        self._ask(flow, ongoing)

    def _ask(self, flow: http.HTTPFlow, ongoing: ExchangeState) -> None:
        """Let the site be asked, unless a model has answered this very request before."""
        if ongoing.by_warex or ongoing.presence.left.is_set():
            return
        self.rewrites.ask(flow, ongoing)
        earlier = ongoing.task.models.earlier(flow, ongoing)
        if earlier is not None:
            flow.response = earlier
            ongoing.from_cache = ongoing.answering = True
            self._decide_by_answer(flow, ongoing)

    async def _strike_after(self, flow: http.HTTPFlow, ongoing: ExchangeState) -> None:
        cut = await self._strike(flow, ongoing, list(ongoing.waiting))
        await self.tools.amend(flow, ongoing)
        if cut or ongoing.presence.left.is_set():
            # mitmproxy calls no hook for a kill here: to it, the answer has been given.
            self.end(flow, ongoing, arrived=False, error=flows.CUT if cut else "client left")
        elif not ongoing.awaits_sending:
            self.end(flow, ongoing)

    async def _strike(
        self, flow: http.HTTPFlow, ongoing: ExchangeState, injections: list[PlannedInjection]
    ) -> bool:
        """Strike in order, until the client leaves; return whether the exchange was cut."""
        for injection in injections:
            if ongoing.finished:
                return False
            struck = AppliedInjection(injection)
            ongoing.waiting.remove(injection)
            if self.tools.is_out_of_reach(ongoing, injection):
                ongoing.task.injector.settle(injection, delivered=False)
                self.recorder.write(missed(injection, "nothing_to_rewrite"))
                continue
            ongoing.struck.append(struck)
            await apply_effects(struck, flow, ongoing.presence, self.recorder.clock)
            self.earlier.strike(flow, ongoing, struck)
            self.rewrites.whole(flow, ongoing, struck)
            if ongoing.llm is not None and (struck.replied or paced_response_of(flow) is not None):
                # What the client is sent counts, and when.
                ongoing.llm.forget()
            ongoing.by_warex = ongoing.by_warex or struck.replied or struck.cut
            self.tools.strike(ongoing, struck, partial(self._met, ongoing, struck))
            if struck.cut:
                self._died(flow, ongoing, injection)
            if struck.done or struck.client_left:
                self._settle(ongoing, struck, arrived=not struck.client_left)
            if struck.client_left:
                # With it goes what was to strike next; the end of the exchange records that.
                ongoing.presence.leave()
                return False
            if struck.cut:
                self._supersede(ongoing)
                return True
        self._expect_repeat(flow, ongoing)
        return False

    def _supersede(self, ongoing: ExchangeState) -> None:
        """Settle what a cut leaves nothing to strike for."""
        for injection in ongoing.waiting:
            ongoing.task.injector.settle(injection, delivered=False)
            self.recorder.write(missed(injection, "superseded"))
        ongoing.waiting = []

    def _died(
        self, flow: http.HTTPFlow, ongoing: ExchangeState, injection: PlannedInjection
    ) -> None:
        """Expect the browser's silent repeat of whatever our cut has killed."""
        now = self.recorder.clock.now()
        dead = [ongoing]
        if Cut("reset") in injection.effects:
            dead = [other for _, other in self._live.get(flow.client_conn.id, {}).values()]
        for other in dead:
            other.task.injector.died(other.exchange.id, now)

    def _expect_repeat(self, flow: http.HTTPFlow, ongoing: ExchangeState) -> None:
        """Expect the browser's silent repeat after an answer that makes it ask again."""
        if flow.response is not None and flow.response.status_code in _RETRIED_STATUSES:
            ongoing.task.injector.died(ongoing.exchange.id, self.recorder.clock.now())

    def _settle(self, ongoing: ExchangeState, struck: AppliedInjection, *, arrived: bool) -> None:
        """Record what became of an injection, once."""
        if struck not in ongoing.struck:
            return
        ongoing.struck.remove(struck)
        injection = struck.injection
        met = (arrived and not struck.changed_nothing) or struck.met_by_waiting
        ongoing.task.injector.settle(injection, delivered=met)
        if met:
            ongoing.task.models.note_refused(ongoing, injection, self.recorder.clock.now())
            left = struck.met_by_waiting
            self.recorder.write(delivered(injection, struck.waited_s, left, struck.changes))
        else:
            self.recorder.write(missed(injection, struck.missed_as, struck.waited_s))

    def _met(self, ongoing: ExchangeState, struck: AppliedInjection, arrived: bool) -> None:
        self._settle(ongoing, struck, arrived=arrived)

    # ---- the end of an exchange

    def end(
        self,
        flow: http.HTTPFlow,
        ongoing: ExchangeState,
        *,
        arrived: bool = True,
        error: str | None = None,
    ) -> None:
        """Record the end of an exchange, once."""
        if ongoing.finished:
            return
        ongoing.finished = True
        live = self._live.get(flow.client_conn.id, {})
        live.pop(ongoing.exchange.id, None)
        if not live:
            self._live.pop(flow.client_conn.id, None)
        if ongoing.own:
            return
        # An answer that broke off was an answer: the client has its head.
        answered = flow.response is not None and (error is None or ongoing.answering)
        if flow.response is not None and ongoing.by_warex:
            ongoing.received = len(flow.response.raw_content or b"")
        self.recorder.write(
            ResponseSeen(
                exchange=ongoing.exchange.id,
                status=flow.response.status_code if answered and flow.response else None,
                resource=ongoing.resource,
                by=ongoing.answered_by(by_site=answered),
                http_version=flow.response.http_version if answered and flow.response else None,
                headers=flows.header_pairs(flow.response.headers)
                if answered and flow.response
                else [],
                size=ongoing.received,
                timings=flows.timings_of(flow, self.recorder.clock.wall()),
                error=error,
            )
        )
        if error is None and arrived:
            self.earlier.end(flow, ongoing)
        self.tools.postpone(flow, ongoing, error)
        for struck in [it for it in ongoing.struck if not it.goes_on(arrived=arrived)]:
            self._settle(ongoing, struck, arrived=arrived)
        for injection in ongoing.waiting:
            ongoing.task.injector.settle(injection, delivered=False)
            self.recorder.write(missed(injection, "client_gone"))
        ongoing.waiting = []
        if ongoing.llm is not None and ongoing.task.models.end(flow, ongoing, error):
            self.task_ended(ongoing.task)
        self.tools.end(flow, ongoing, error)
        ongoing.task.injector.finish(ongoing.exchange.id)

    # ---- from when on, and until when

    @override
    def model_asked(self, task: Task) -> None:
        self.on_model_asked()
        self.note_arming(task, "first_llm_call")

    @override
    def task_ended(self, task: Task) -> None:
        self.disarm_task(task, "terminal_action")
        self.tell_by_end(task)

    def arm(self) -> None:
        """Hit and count from here on, since the control API says so."""
        self.injector.arm()
        self.note_arming(self.tasks.main, "control")

    def disarm(self) -> None:
        """Leave everything alone from here on, since the control API says so."""
        self.disarm_task(self.tasks.main, "control")

    @fail_closed
    def client_disconnected(self, client: connection.Client) -> None:
        """Tell everybody who holds an exchange of this client; report what was passed through."""
        for _, ongoing in self._live.get(client.id, {}).values():
            ongoing.presence.leave()
        self.closing.gone(client)
        self.refusals.gone(client.id)
        self.connections.pop(client.id, None)
        self.forget_client(client.id)
        self.tunnels.disconnected(client)

    # ---- the trial

    def _answer(self, flow: http.HTTPFlow, ongoing: ExchangeState) -> None:
        if self.rewrites.hears(flow):
            self.rewrites.hear(flow)
        elif (host := ongoing.exchange.request.parts.hostname) == TASK_HOST:
            self.answer_marker(flow, ongoing)
        elif host in FAULT_HOSTS:
            self.own_sites.answer(flow, ongoing)
        else:
            self.answer_canary(flow, ongoing)

    @override
    def report_left_alone(self) -> None:
        """Record how many exchanges each rule had to leave alone, and why."""
        self._report_left_alone(self.tasks.main)

    def _report_left_alone(self, task: Task) -> None:
        for left in task.injector.left_alone():
            self.recorder.write(
                msgspec.convert(
                    {"rule": left.rule, "reason": left.reason, "count": left.count}, FaultMissed
                )
            )

    def finish(self) -> None:
        """Settle what is still under way: the trial is over."""
        now = self.recorder.clock.now()
        for flow in self._arriving.values():
            if state_of(flow) is None:
                self._number(flow)
        for exchanges in list(self._live.values()):
            for flow, ongoing in list(exchanges.values()):
                self._note(flow, ongoing)
                for struck in [*ongoing.struck, *map(AppliedInjection, ongoing.waiting)]:
                    self.recorder.write(missed(struck.injection, "trial_over", struck.waited(now)))
                ongoing.struck, ongoing.waiting = [], []
                self.end(flow, ongoing, arrived=False, error="the trial ended")
        self.tools.finish()
        self.rewrites.finish()
        self.attempts.finish()
        for task in self.tasks.all():
            self._report_left_alone(task)
