"""The decision which faults a scenario injects into an exchange.

It does no I/O and owns all state of one trial: each rule's counts, each fault's state, and whether
the rules are armed.

Counting. Each rule counts what it matches, independently of other rules. ``per: rule`` numbers all
matches in order of arrival and draws by (seed, rule, ordinal); ``per: url`` numbers each method and
URL by itself and draws by (seed, rule, method, URL, ordinal), so that parallel sub-resources are
hit alike in any order. A rule is judged when the request arrives, or, if its match has
response-side keys, when the site has answered. Outside a trigger's windows nothing is counted:
`{first: 1}` with `after_step: 3` is the first one after step 3.

A hit that still applies (``Fault.still_applies``) hits whatever the trigger says, as one occurrence
with the hit that began it. connection_tries.py judges connection tries, which precede exchanges.

Collisions. A planned injection wins over those planned later, by a later rule or at the response.
"""

from collections.abc import Container, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Self

from msgspec import Struct, structs

from warex.exchange import Exchange, Request
from warex.hash_counter import HashCounter
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.hosts import is_known_llm_host
from warex.scenarios.injection.arming import Arming
from warex.scenarios.injection.browser_retries import ExpectedRetries
from warex.scenarios.injection.connection_tries import ConnectionTryRules
from warex.scenarios.injection.planner import (
    NO_INJECTION,
    Decision,
    PlannedInjection,
    Planner,
    collide,
)
from warex.scenarios.injection.rule_state import InjectionSchedule, RuleState, SkipReason
from warex.scenarios.matching.candidate import Candidate
from warex.scenarios.matching.exclusions import EXCLUSIONS
from warex.scenarios.matching.url_patterns import any_of, host_of, normalise, on_sites
from warex.scenarios.scenario import Rule, Scenario, Trigger
from warex.traffic import Arm


class SkippedMatches(Struct, frozen=True):
    """The number of matching exchanges that a rule skipped, and the reason."""

    rule: str
    reason: SkipReason
    count: int


class _Open(Struct):
    """An exchange under way."""

    exchange: str
    request: Request
    number: int = 0
    """In a replay: of the exchange, among those with its method and URL."""
    decision: Decision = NO_INJECTION
    skipped: SkipReason | None = None
    """Why it is skipped."""
    answer: Decision | None = None
    """The decision at the site's answer."""
    repeated: Decision | None = None
    """The decision that already exists for the site's answer."""


class Injector:
    """Decides, exchange by exchange, what a scenario injects in one trial.

    ``sites``: the task sites' origins, for `{sites}` and for arming. ``never``: exclusions beyond
    the built-in and the scenario's own; ``never_agents``: prefixes of the User-Agent of clients
    that are skipped, except for their calls to a model. ``arm`` overrides the scenario's. With a
    ``schedule`` the triggers are ignored and exactly its places are hit.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        *,
        sites: tuple[str, ...] = (),
        never: tuple[str, ...] = (),
        never_agents: tuple[str, ...] = (),
        arm: Arm | None = None,
        schedule: InjectionSchedule | None = None,
        own_hosts: Container[str] = (),
        llm_hosts: tuple[str, ...] = (),
    ) -> None:
        self.scenario = scenario
        self.arming = Arming(arm or scenario.arm or "start")
        self._sites = sites
        self._is_never = any_of((*EXCLUSIONS, *scenario.never, *never))
        self._never_agents = never_agents
        self._is_site = on_sites(sites)
        self._pages_of_programs = scenario.page_resources_of_programs
        self._planner = Planner(seed, schedule, from_start=self.arming.at == "start")
        self.connections = ConnectionTryRules(
            self._planner,
            self.arming,
            self._is_never,
            sites=sites,
            own_hosts=own_hosts,
            llm_hosts=llm_hosts,
        )
        """Judges connection tries."""
        self._one_shots: dict[str, Rule] = {}
        self._begin()
        self.connections.begin(self._counts)

    def _begin(self) -> None:
        self.arming.begin()
        self._exchanges = HashCounter()
        """In a replay: the exchanges by method and URL."""
        self._set_counts(RuleState(rule, self._sites) for rule in self.scenario.rules)
        self._open: dict[str, _Open] = {}
        self._awaited: ExpectedRetries[_Open] = ExpectedRetries()

    def _set_counts(self, counts: Iterable[RuleState]) -> None:
        self._counts = tuple(counts)
        self.rules = tuple(count.rule for count in self._counts)
        """The scenario's rules and the one-shots."""
        self._of_exchanges = [count for count in self._counts if not count.of_connections]
        self._at_request = [it for it in self._of_exchanges if not it.judged_at_response]
        self._at_response = [it for it in self._of_exchanges if it.judged_at_response]
        self.judges_responses = bool(self._at_response)
        """Whether any rule needs the site's answer."""

    @property
    def seed(self) -> int:
        """The seed of the current task's draws."""
        return self._planner.seed

    def request(self, exchange: Exchange, now: float) -> Decision:
        """Judge a request that has arrived; ``now`` in seconds of the trial."""
        exchange = exchange if exchange.at == now else structs.replace(exchange, at=now)
        request = exchange.request
        opened = self._open[exchange.id] = _Open(exchange.id, request)
        if (first := self._awaited.take(request, now)) is not None:
            opened.decision = self._repeat(opened, first)
            return opened.decision
        if request.is_preflight or request.is_prefetch:
            opened.repeated = NO_INJECTION
            return NO_INJECTION
        candidate = Candidate.of(exchange)
        if self._planner.replays:
            opened.number = self._exchanges.add(candidate.scope, 1)
        of_site = exchange.server == "site"
        if not of_site:
            self.connections.note_llm(candidate.url)
        user_agent = request.headers.get("user-agent", "")
        if self._is_never(candidate.url) or (of_site and user_agent.startswith(self._never_agents)):
            opened.skipped = "never"
        elif not (self.arming.armed or self._arms(request, candidate)):
            opened.skipped = self.arming.unarmed
        else:
            self.arming.armed = True
        for count in self._of_exchanges:
            if count.ongoing is not None:
                count.observe(exchange)
        due = [count for count in self._at_request if count.matches(candidate)]
        reached = [
            count
            for count in self._of_exchanges
            if count.ongoing is not None and count.is_reached(exchange, candidate)
        ]
        if due or reached:
            opened.decision = self._judge(opened, exchange, candidate, opened.skipped, due, reached)
        return opened.decision

    def response(self, exchange: Exchange, now: float) -> Decision:
        """Judge the site's answer by the rules that need it.

        An exchange whose request was skipped is skipped here, too.
        """
        opened = self._open.get(exchange.id)
        if opened is None or exchange.response is None or not self.judges_responses:
            return NO_INJECTION
        exchange = exchange if exchange.at == now else structs.replace(exchange, at=now)
        if opened.repeated is not None:
            opened.answer = self._plan_repeat(exchange.id, opened.repeated)
            return opened.answer
        candidate = Candidate.of(exchange)
        skipped = opened.skipped or (None if self.arming.armed else self.arming.unarmed)
        due = [count for count in self._at_response if count.matches(candidate)]
        opened.answer = self._judge(opened, exchange, candidate, skipped, due)
        return opened.answer

    def finish(self, exchange_id: str) -> None:
        """Forget an exchange that ended normally."""
        self._open.pop(exchange_id, None)

    def died(self, exchange_id: str, now: float) -> None:
        """Note an end of an exchange after which a browser may silently repeat it.

        That is a cut of ours, of it or another on its connection, or an answer 408 or 421 by us or
        the site. Must be called before the end reaches the client, since the repeat may come at
        once. The exchange is then forgotten, as by ``finish``.
        """
        if (opened := self._open.pop(exchange_id, None)) is not None:
            self._awaited.died(opened.request, now, opened)

    def llm_call(self, body_digest: str) -> None:
        """Note a call of the agent to its model; the same body again is the same step."""
        self.arming.llm_call(body_digest)
        # A request after a call comes from the agent and is not a repeat of the browser's.
        self._awaited.clear()

    def skip_websocket_call(self, call: LlmExchange, now: float) -> None:
        """Note a call over a WebSocket, which cannot be hit, as skipped by rules about calls."""
        candidate = Candidate.of(call)
        reason: SkipReason = "websocket" if self.arming.armed else self.arming.unarmed
        if self._is_never(candidate.url):
            reason = "never"
        for count in self._counts:
            if count.rule.targets_llm and count.matches(candidate):
                count.skipped[reason] += not count.outside_window(now, self.arming.steps)

    def may_concern(self, method: str, url: str) -> bool:
        """Whether any rule could be about such a request, as far as method and URL tell."""
        url = normalise(url)
        return any(count.may_concern(method, url) for count in self._counts)

    def is_about(self, rule: str, method: str, url: str) -> bool:
        """Whether a rule could be about such a request, as far as method and URL tell."""
        url = normalise(url)
        return any(it.rule.name == rule and it.may_concern(method, url) for it in self._counts)

    def may_rewrite(self, method: str, url: str) -> bool:
        """Whether a rule that is judged at the answer could rewrite such a request's answer."""
        return self.judges_responses and any(
            count.rule.fault.rewrites and count.may_concern(method, normalise(url))
            for count in self._at_response
        )

    def add_one_shot(self, rule: Rule) -> None:
        """Add a one-shot: the rule hits the next matching exchange, then no other.

        If that injection is missed, the next match is hit. The rule counts from here on; a replay,
        which has the rule from the start, finds the exchange by its number among all exchanges with
        its method and URL, and only counts again. Raises ValueError if the rule is not ``per: url``
        and plainly ``always``, or another rule of the trial has its name.
        """
        if rule.per != "url" or rule.trigger != Trigger(always=True):
            raise ValueError("a one-shot numbers per url and is always triggered")
        existing = self._called(rule.name)
        known = self._planner.replays and existing == rule
        # A name in a ledger is one rule, in all tasks.
        if not known and (existing is not None or self._one_shots.get(rule.name, rule) != rule):
            raise ValueError(f"a rule called {rule.name!r} is there already")
        self._one_shots[rule.name] = rule
        if known:
            for count in self._of_exchanges:
                if count.rule == rule:
                    count.count_anew()
            return
        count = RuleState(rule, self._sites, once=True)
        if count.of_connections:
            self.connections.add(count)
        self._set_counts((*self._counts, count))

    def accepts_one_shot(self, rule: Rule) -> bool:
        """Whether a one-shot's name is free; in a replay, the same rule may have it."""
        existing = self._called(rule.name)
        free = existing is None or (self._planner.replays and existing == rule)
        return free and rule.name not in self._one_shots

    def _called(self, name: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.name == name), None)

    def begin_task(self, seed: int) -> None:
        """Begin a task with new counts, memories and budgets, and its own seed.

        Exchanges that are still open belong to the previous task and are ignored.
        """
        self._planner.begin_task(seed)
        self._begin()
        self.connections.begin(self._counts)

    def for_concurrent_task(self, seed: int) -> Self:
        """Return the injector of a task that runs at the same time as this one's.

        It has the scenario's rules with its own counts, and numbers its injections among all of the
        trial. Connection tries stay with this one, since their task is unknown.
        """
        other = copy(self)
        other._planner = self._planner.for_concurrent_task(seed)
        other.arming = Arming(self.arming.at)
        other._one_shots = {}
        other._begin()
        return other

    def skipped(self) -> tuple[SkippedMatches, ...]:
        """Return the number of skipped matches for each rule and reason."""
        return tuple(
            SkippedMatches(count.rule.name, reason, number)
            for count in self._counts
            for reason, number in count.skipped.items()
        )

    def unarmed_counts(self) -> dict[str, dict[str, int]]:
        """Return the matches of this task while the rules were not armed, by rule and scope.

        A place's ordinal plus this number is its ordinal in a trial that is always armed.
        """
        return {count.rule.name: dict(count.unarmed) for count in self._counts if count.unarmed}

    def earlier_tries(self, name: str) -> dict[str, int]:
        """Return the connection tries that a one-shot would have counted before, by scope."""
        return next(count.earlier for count in self._counts if count.rule.name == name)

    def _arms(self, request: Request, candidate: Candidate) -> bool:
        """Whether this is the first page: a browser's, or a program's equivalent."""
        is_page = request.is_top_level or (
            candidate.server == "site"
            and candidate.resource in self._pages_of_programs
            and not is_known_llm_host(host_of(candidate.url))
            and "sec-fetch-dest" not in request.headers
        )
        return self.arming.awaits_page and is_page and self._is_site(candidate.url)

    def _judge(
        self,
        opened: _Open,
        exchange: Exchange,
        candidate: Candidate,
        skipped: SkipReason | None,
        due: Sequence[RuleState],
        reached: Sequence[RuleState] = (),
    ) -> Decision:
        """Decide by the rules that are due, or note that they skip the exchange, and why.

        ``reached``: rules that do not match, but have an earlier hit with a consequence here.
        """
        now = exchange.at
        if skipped is not None:
            for count in due:
                count.skip(candidate, skipped, now, self.arming.steps)
            return NO_INJECTION
        injections: list[PlannedInjection] = []
        superseded: list[PlannedInjection] = []
        for count in (*due, *reached):
            if count.outside_window(now, self.arming.steps):
                continue
            # What the rule does not match has no place of its own in its count.
            scope, ordinal = count.count(candidate) if count in due else ("", 0)
            goes_on = count in reached or (
                count.ongoing is not None and count.still_applies(exchange)
            )
            if not self._planner.fires(count, scope, ordinal, opened.number, goes_on=goes_on):
                continue
            if count.rule.fault.spares(exchange, count.fault_state):
                continue
            injection, fault_state = self._planner.plan(count, exchange, scope, ordinal)
            if goes_on and count.ongoing is not None:
                injection = replace(injection, repeat_of=count.ongoing.id)
            before = (*opened.decision.injections, *injections)
            if any(collide(other, injection) for other in before):
                superseded.append(injection)
                continue
            injections.append(self._planner.commit(count, injection, fault_state))
        if not (injections or superseded):
            return NO_INJECTION
        return Decision(tuple(injections), tuple(superseded))

    def _repeat(self, opened: _Open, first: _Open) -> Decision:
        opened.skipped = first.skipped
        opened.repeated = first.repeated if first.answer is None else first.answer
        return replace(self._plan_repeat(opened.exchange, first.decision), repeat_of=first.exchange)

    def _plan_repeat(self, exchange_id: str, first: Decision) -> Decision:
        """Plan the decision of a repeat's first exchange again."""
        if not self.arming.armed:
            return NO_INJECTION

        def copy(injection: PlannedInjection) -> PlannedInjection:
            return self._planner.plan_repeat(injection, exchange_id)

        return Decision(tuple(map(copy, first.injections)), tuple(map(copy, first.superseded)))
