"""The mitmproxy addon that injects faults and records the trial.

One exchange: ``requestheaders`` (where to) → ``request`` (decide; strike before the site) →
``responseheaders`` (decide by the answer; stream or hold) → ``response`` (strike after the site)
→ ``warex_sent`` (an injected answer is out) or ``error``.
"""

from collections.abc import Awaitable, Callable
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from mitmproxy import connection, http

from warex.exchange import Exchange, resource_of
from warex.llm import could_be_llm
from warex.llm.actions import Progress
from warex.proxy import flows
from warex.proxy.closing import Closing
from warex.proxy.config import ProxyConfig
from warex.proxy.connection_hooks import ConnectionHooks
from warex.proxy.connections import written_out
from warex.proxy.hooks import fail_closed
from warex.proxy.interception import CANARY_HOST
from warex.proxy.ledger import missed, planned
from warex.proxy.model_calls import ModelCalls
from warex.proxy.ongoing import Ongoing, attach, ongoing_of
from warex.proxy.perform import Struck, strike
from warex.proxy.presence import presence_of
from warex.proxy.recorder import Recorder
from warex.proxy.refused import Refused
from warex.proxy.tunnels import is_unread
from warex.proxy.websocket_hooks import WebSocketHooks
from warex.scenarios import Decision, Injection, Injector
from warex.traces import (
    Armed,
    Canary,
    FaultDelivered,
    FaultMissed,
    RequestSeen,
    ResponseSeen,
)
from warex.traces.redact import redact_url

_REPEATED = (408, 421)
"""Answers after which Chromium silently sends the request again on another connection (measured;
RFC 9110 §15.5.9 and §15.5.20 allow it)."""

_STREAM_ABOVE = 256 * 1024
"""Bytes of a request's body from which it is streamed, where no rule can be about it."""


class WarexAddon(ConnectionHooks, WebSocketHooks):
    """Injects a scenario's faults into one trial's exchanges, and records them all."""

    def __init__(self, config: ProxyConfig, injector: Injector, recorder: Recorder) -> None:
        super().__init__(config, injector, recorder)
        self.config = config
        self.injector = injector
        self._arriving: dict[str, http.HTTPFlow] = {}
        """Flows whose request has not come whole yet, by their id."""
        self._live: dict[str, dict[str, tuple[http.HTTPFlow, Ongoing]]] = {}
        self.closing = Closing(injector, recorder.clock, self._live.__contains__)
        self.on_model_asked: Callable[[], None] = lambda: None
        """Called before an LLM request goes on; raises where it must not."""
        self._armed = injector.armed
        self.models = ModelCalls(config, injector, recorder)
        if self._armed:
            recorder.write(Armed(by="start"))

    # ---- the exchange

    @fail_closed
    def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Send the request where it belongs; stream a large body that nobody needs to see."""
        request = flow.request
        if self.config.maps:
            target = self.interception.target(request.pretty_host, request.port)
            if target is not None:
                flows.send_elsewhere(flow, target)
        if flow.client_conn.tls_version is None and self._is_passed(flow):
            return
        self._arriving[flow.id] = flow
        if could_be_llm(request.method, request.path):
            return
        if flows.is_longer(request, _STREAM_ABOVE):
            concerned = self.injector.may_concern(request.method, flows.url_of(flow))
            # What no rule is about may be decided now, since nothing strikes it; a gRPC call must
            # be, since its next message may wait for an answer to the last.
            if concerned and not flows.is_grpc(request):
                return
            ongoing = self._begin(flow)
            if all(hit.stage != "request" for hit in ongoing.decision.injections):
                request.stream = ongoing.count_sent

    def _is_passed(self, flow: http.HTTPFlow) -> bool:
        """See to what only plain HTTP needs; return whether nobody reads the exchange."""
        request = flow.request
        flows.drop_hop_headers(request.headers)
        if self.upstream_auth and request.authority:
            request.headers["proxy-authorization"] = self.upstream_auth
        parts = urlsplit(flows.url_of(flow))
        why = self.interception.why_not(parts.hostname or "")
        if why is None or why == "tls_rejected":
            return False
        self.tunnels.begin_exchange(flow, parts.hostname or "", parts.port or 80, why)
        return True

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        """Record the request, decide, and strike if the fault comes before the site."""
        if is_unread(flow):
            return None
        self._arriving.pop(flow.id, None)
        ongoing = ongoing_of(flow) or self._begin(flow)
        if ongoing.own:
            return None
        self._note(flow, ongoing)
        self.models.defend(flow, ongoing)
        before = [hit for hit in ongoing.waiting if hit.stage == "request"]
        if before:
            return self._strike_before(flow, ongoing, before)
        self._ask(flow, ongoing)
        return None

    def _number(self, flow: http.HTTPFlow) -> Ongoing:
        """Number the exchange; nothing is decided for it yet."""
        request = flows.request_of(flow)
        self.recorder.exchanges += 1
        exchange = Exchange(f"x{self.recorder.exchanges}", request)
        ongoing = Ongoing(
            exchange,
            resource_of(request),
            self.connections.get(flow.client_conn.id, ""),
            presence=presence_of(flow),
        )
        attach(flow, ongoing)
        self._live.setdefault(flow.client_conn.id, {})[exchange.id] = (flow, ongoing)
        self.closing.used(flow)
        return ongoing

    def _begin(self, flow: http.HTTPFlow) -> Ongoing:
        """Number the exchange and decide what happens to it."""
        now = self.recorder.clock.now()
        ongoing = self._number(flow)
        if ongoing.exchange.request.parts.hostname == CANARY_HOST:
            self._answer_canary(flow, ongoing)
            return ongoing
        llm = self.models.recognise(flow, ongoing, now)
        if llm:
            self.on_model_asked()
            self._note_arming("first_llm_call")
        ongoing.decision = self.injector.request(ongoing.exchange, now, llm=llm)
        self._note_arming("first_page")
        return ongoing

    def _note(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        """Record the request and what was decided for it, once."""
        if ongoing.noted:
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
                headers=flows.pairs(flow.request.headers),
                size=ongoing.sent or len(flow.request.raw_content or b""),
                body=self.recorder.body(request.body_digest),
                repeat_of=decision.repeat_of,
            )
        )
        self._plan(ongoing, decision)
        ongoing.waiting = list(decision.injections)

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Decide by the site's answer; stream it unless a fault needs it whole."""
        self.tunnels.answered(flow)
        ongoing = ongoing_of(flow)
        if ongoing is None or flow.response is None or ongoing.by_warex:
            return
        self._note(flow, ongoing)
        self._decide_by_answer(flow, ongoing)
        if not ongoing.waiting:
            ongoing.answering = True
            flow.response.stream = self._tee(ongoing)
            self._expect_repeat(flow, ongoing)

    def _decide_by_answer(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        answered = Exchange(ongoing.exchange.id, ongoing.exchange.request, flows.response_of(flow))
        ongoing.resource = resource_of(answered.request, answered.response)
        now = self.recorder.clock.now()
        decision = self.injector.response(answered, now, llm=ongoing.llm is not None)
        self._plan(ongoing, decision)
        ongoing.waiting += decision.injections

    def _tee(self, ongoing: Ongoing) -> Callable[[bytes], bytes]:
        tap, clock = ongoing.llm, self.recorder.clock

        def count(data: bytes) -> bytes:
            ongoing.received += len(data)
            if tap is not None and data:
                tap.add(data, clock.now())
            return data

        return count

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> Awaitable[None] | None:
        """Strike if the fault comes after the site; otherwise the exchange is over."""
        self.tunnels.ended(flow)
        ongoing = ongoing_of(flow)
        if ongoing is None or flow.response is None:
            return None
        if (ongoing.waiting or ongoing.from_cache) and not ongoing.by_warex:
            body = flow.response.raw_content or b""
            ongoing.received = len(body)
            if ongoing.llm is not None:
                ongoing.llm.add(body, self.recorder.clock.now())
        if ongoing.waiting and not ongoing.by_warex:
            return self._strike_after(flow, ongoing)
        if not ongoing.awaits_sending:
            self._end(flow, ongoing)
        return None

    @fail_closed
    async def warex_sent(self, flow: http.HTTPFlow) -> None:
        """Note whether an injected answer has reached the client."""
        ongoing = ongoing_of(flow)
        if ongoing is None or ongoing.finished:
            return
        presence = ongoing.presence
        arrived = await presence.all_let_go() and await written_out(flow.client_conn)
        self._end(flow, ongoing, arrived=arrived and not presence.has_reset)

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """The exchange broke: the client left, the site failed, or we cut it."""
        self.tunnels.ended(flow)
        given_up = self._arriving.pop(flow.id, None) is not None
        ongoing = ongoing_of(flow) or (self._number(flow) if given_up else None)
        if ongoing is None or ongoing.finished:
            return
        reason = flow.error.msg if flow.error else "the exchange broke"
        self._note(flow, ongoing)
        if ongoing.unreachable and not ongoing.by_warex:
            site = ongoing.exchange.request.parts
            self.notices(flows.unreachable(site, self.config.upstream, reason))
        if ongoing.is_refused:
            self.injector.died(ongoing.exchange.id, self.recorder.clock.now())
        self._end(flow, ongoing, arrived=False, error=reason)

    @fail_closed
    def warex_refused(self, refused: Refused) -> None:
        """Record a request that no site would take; it is no exchange unless one has begun."""
        for flow in list(self._arriving.values()):
            if flow.client_conn is refused.client and not flow.request.is_http2:
                del self._arriving[flow.id]
        super().warex_refused(refused)

    # ---- faults

    def _plan(self, ongoing: Ongoing, decision: Decision) -> None:
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
        self, flow: http.HTTPFlow, ongoing: Ongoing, injections: list[Injection]
    ) -> None:
        await self._strike(flow, ongoing, injections)
        self._ask(flow, ongoing)

    def _ask(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        """Let the site be asked, unless a model has answered this very request before."""
        if ongoing.by_warex or ongoing.presence.left.is_set():
            return
        earlier = self.models.earlier(flow, ongoing)
        if earlier is not None:
            flow.response = earlier
            ongoing.from_cache = ongoing.answering = True
            self._decide_by_answer(flow, ongoing)

    async def _strike_after(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        cut = await self._strike(flow, ongoing, list(ongoing.waiting))
        if cut or ongoing.presence.left.is_set():
            # mitmproxy calls no hook for a kill here: to it, the answer has been given.
            self._end(flow, ongoing, arrived=False, error="cut" if cut else "client left")
        elif not ongoing.awaits_sending:
            self._end(flow, ongoing)

    async def _strike(
        self, flow: http.HTTPFlow, ongoing: Ongoing, injections: list[Injection]
    ) -> bool:
        """Strike in order, until the client leaves; return whether the exchange was cut."""
        for injection in injections:
            if ongoing.finished:
                return False
            struck = Struck(injection)
            ongoing.waiting.remove(injection)
            ongoing.struck.append(struck)
            await strike(struck, flow, ongoing.presence, self.recorder.clock)
            ongoing.by_warex = ongoing.by_warex or struck.replied or struck.cut
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

    def _supersede(self, ongoing: Ongoing) -> None:
        """Settle what a cut leaves nothing to strike for."""
        for injection in ongoing.waiting:
            self.injector.settle(injection, delivered=False)
            self.recorder.write(missed(injection, "superseded"))
        ongoing.waiting = []

    def _died(self, flow: http.HTTPFlow, ongoing: Ongoing, injection: Injection) -> None:
        """Expect the browser's silent repeat of whatever our cut has killed."""
        now = self.recorder.clock.now()
        dead = [ongoing]
        if any(getattr(effect, "how", None) == "reset" for effect in injection.effects):
            dead = [other for _, other in self._live.get(flow.client_conn.id, {}).values()]
        for other in dead:
            self.injector.died(other.exchange.id, now)

    def _expect_repeat(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        """Expect the browser's silent repeat after an answer that makes it ask again."""
        if flow.response is not None and flow.response.status_code in _REPEATED:
            self.injector.died(ongoing.exchange.id, self.recorder.clock.now())

    def _settle(self, ongoing: Ongoing, struck: Struck, *, arrived: bool) -> None:
        """Record what became of an injection, once."""
        if struck not in ongoing.struck:
            return
        ongoing.struck.remove(struck)
        injection = struck.injection
        delivered = arrived or struck.met_by_waiting
        self.injector.settle(injection, delivered=delivered)
        if delivered:
            self.recorder.write(
                FaultDelivered(
                    injection=injection.id,
                    exchange=injection.exchange,
                    rule=injection.rule,
                    waited_s=round(struck.waited_s, 6),
                    client_left=struck.met_by_waiting,
                )
            )
        else:
            self.recorder.write(missed(injection, struck.missed_as, struck.waited_s))

    # ---- the end of an exchange

    def _end(
        self,
        flow: http.HTTPFlow,
        ongoing: Ongoing,
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
                headers=flows.pairs(flow.response.headers) if answered and flow.response else [],
                size=ongoing.received,
                timings=flows.timings_of(flow, self.recorder.clock.wall()),
                error=error,
            )
        )
        for struck in list(ongoing.struck):
            self._settle(ongoing, struck, arrived=arrived)
        for injection in ongoing.waiting:
            self.injector.settle(injection, delivered=False)
            self.recorder.write(missed(injection, "client_gone"))
        ongoing.waiting = []
        if ongoing.llm is not None and self.models.end(flow, ongoing, error):
            self._disarm("terminal_action")
        self.injector.finish(ongoing.exchange.id)

    # ---- from when on, and until when

    def _note_arming(self, by: str) -> None:
        self.closing.check()
        if self.injector.armed and not self._armed:
            self._armed = True
            self.recorder.write(msgspec.convert({"by": by}, Armed))
        self.on_turn()

    def arm(self) -> None:
        """Hit and count from here on, since the control API says so."""
        self.injector.arm()
        self._note_arming("control")

    def disarm(self) -> None:
        """Leave everything alone from here on, since the control API says so."""
        self._disarm("control")

    def _disarm(self, by: Literal["terminal_action", "control"]) -> None:
        if not self.injector.over:
            self.injector.disarm()
            self._armed = False
            self.disarmed(by)

    def begin_task(self, seed: int) -> None:
        """Let every rule begin anew."""
        self.report_left_alone()
        self.injector.begin_task(seed)
        self._armed, self.models.progress = False, Progress()
        self.closing.renew()
        self._note_arming("start")

    @fail_closed
    def client_disconnected(self, client: connection.Client) -> None:
        """Tell everybody who holds an exchange of this client; report what was passed through."""
        for _, ongoing in self._live.get(client.id, {}).values():
            ongoing.presence.leave()
        self.closing.gone(client)
        self.refusals.gone(client.id)
        self.connections.pop(client.id, None)
        self.tunnels.disconnected(client)

    # ---- the trial

    def _answer_canary(self, flow: http.HTTPFlow, ongoing: Ongoing) -> None:
        """Answer with the nonce that was asked for: whoever reads it came through here."""
        nonce = ongoing.exchange.request.parts.path.strip("/")
        ongoing.own = ongoing.by_warex = True
        page = f"<!doctype html><title>canary</title><p>{nonce.encode().hex()}</p>"
        flow.response = http.Response.make(
            200, page, {"content-type": "text/html", "cache-control": "no-store"}
        )
        if ongoing.resource == "document":
            self.recorder.write(Canary(passed=True, detail=f"{CANARY_HOST}/{nonce} was asked for"))

    def report_left_alone(self) -> None:
        """Record how many exchanges each rule had to leave alone, and why."""
        for left in self.injector.left_alone():
            self.recorder.write(
                msgspec.convert(
                    {"rule": left.rule, "reason": left.reason, "count": left.count}, FaultMissed
                )
            )

    def finish(self) -> None:
        """Settle what is still under way: the trial is over."""
        now = self.recorder.clock.now()
        for flow in self._arriving.values():
            if ongoing_of(flow) is None:
                self._number(flow)
        for exchanges in list(self._live.values()):
            for flow, ongoing in list(exchanges.values()):
                self._note(flow, ongoing)
                for struck in [*ongoing.struck, *map(Struck, ongoing.waiting)]:
                    self.recorder.write(missed(struck.injection, "trial_over", struck.waited(now)))
                ongoing.struck, ongoing.waiting = [], []
                self._end(flow, ongoing, arrived=False, error="the trial ended")
        self.attempts.finish()
        self.report_left_alone()
