"""The decision: given a scenario and an exchange, what is injected?

This is the heart of WAREX and it does no I/O. It owns all state of one trial: what each rule has
counted, what each fault remembers, whether the rules are armed.

Counting. Every rule counts what it matches, whatever other rules did. ``per: rule`` numbers all of
them in order of arrival and draws by (seed, rule, ordinal); ``per: url`` numbers each method + URL
by itself and draws by (seed, rule, method, URL, ordinal), so that parallel sub-resources are hit
alike in any order. A rule is judged when the request arrives, or, if its match has response-side
keys, when the site has answered. Outside a trigger's windows nothing is counted: `{first: 1}` with
`after_step: 3` is the first one after step 3.

What goes on (``Fault.goes_on``) is hit whatever the trigger says, and is one occurrence with what
began it.

Attempts to connect, which come before any exchange, are judged in ``attempts``.

Collisions. What is planned stands against what is decided later: by a later rule, or by the site's
answer.
"""

from collections.abc import Container, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

from warex.exchange import Exchange, Request
from warex.faults import ConnectionPhase
from warex.llm.exchange import LlmExchange
from warex.llm.recognition.hosts import is_known_llm_host
from warex.llm.steps import StepCounter
from warex.packed import CompressedCounter
from warex.scenarios.injection.browser_retries import ExpectedRetries
from warex.scenarios.injection.connection_tries import ConnectionTryRules, TrialState, TryOutcome
from warex.scenarios.injection.planner import (
    NO_INJECTION,
    Decision,
    PlannedInjection,
    Planner,
    collide,
)
from warex.scenarios.injection.rule_state import InjectionSchedule, RuleState
from warex.scenarios.matching.candidate import Candidate
from warex.scenarios.matching.exclusions import EXCLUSIONS
from warex.scenarios.matching.url_patterns import any_of, host_of, normalise, on_sites
from warex.scenarios.origins import ConnectionTarget
from warex.scenarios.scenario import Rule, Scenario, Trigger
from warex.traffic import Arm


@dataclass(frozen=True, slots=True)
class SkippedMatches:
    """How many matching exchanges a rule had to leave alone, and why."""

    rule: str
    reason: str
    count: int


@dataclass(slots=True)
class _Open:
    """An exchange under way."""

    exchange: str
    request: Request
    decision: Decision = NO_INJECTION
    spared: str | None = None
    """Why no rule may hit it."""
    answer: Decision | None = None
    """What was decided when the site answered."""
    owed: Decision | None = None
    """What is decided already for the site's answer."""


class Injector:
    """Decides, exchange by exchange, what a scenario injects in one trial.

    ``sites``: the task sites' origins, for `{sites}` and for arming. ``never``: URL globs left
    alone beside the built-in and the scenario's own; ``never_agents``: how the User-Agent begins of
    clients left alone, but for their calls to a model. ``arm`` overrides the scenario's. With a
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
        own_hosts: tuple[str, ...] = (),
        llm_hosts: tuple[str, ...] = (),
    ) -> None:
        self.scenario = scenario
        self.arm_at: Arm = arm or scenario.arm or "start"
        self.armed = self.arm_at == "start"
        self._sites = sites
        self._is_never = any_of((*EXCLUSIONS, *scenario.never, *never))
        self._never_agents = never_agents
        self._is_site = on_sites(sites)
        self._pages_of_programs = scenario.page_resources_of_programs
        self.task_ended = False
        """Whether the task has ended: nothing but `arm` arms any more."""
        self._steps = StepCounter()
        self._planner = Planner(seed, schedule, from_start=self.arm_at == "start")
        self._attempts = ConnectionTryRules(
            self._planner,
            self._is_never,
            sites=sites,
            own_hosts=own_hosts,
            llm_hosts=llm_hosts,
        )
        self._arrived: CompressedCounter[Candidate] = CompressedCounter()
        self._passed: CompressedCounter[Candidate] = CompressedCounter()
        self._counts = self._fresh_counts()
        self._attempts.begin(self._counts)
        self._one_shots: dict[str, Rule] = {}
        self._open: dict[str, _Open] = {}
        self._awaited: ExpectedRetries[_Open] = ExpectedRetries()

    def _fresh_counts(self) -> list[RuleState]:
        return [RuleState(rule, self._sites) for rule in self.scenario.rules]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force: the scenario's and those added since."""
        return tuple(count.rule for count in self._counts)

    @property
    def seed(self) -> int:
        """The seed of the present task's draws."""
        return self._planner.seed

    @property
    def steps(self) -> int:
        """How many steps the agent has made in this task."""
        return self._steps.count

    def request(self, exchange: Exchange, now: float, *, llm: bool = False) -> Decision:
        """Judge a request that has arrived; ``now`` in seconds of the trial.

        ``llm``: the request goes to a model. No rule is about it unless it spells its host out.
        """
        request = exchange.request
        opened = self._open[exchange.id] = _Open(exchange.id, request)
        if (first := self._awaited.take(request, now)) is not None:
            opened.decision = self._repeat(opened, first)
            return opened.decision
        if request.is_preflight or request.is_prefetch:
            opened.owed = NO_INJECTION
            return NO_INJECTION
        candidate = Candidate.of(exchange, llm=llm)
        if llm:
            self._attempts.note_llm(candidate.url)
        if self._is_never(candidate.url) or (not llm and self._is_verifier(request)):
            opened.spared = "never"
        elif not (self.armed or self._arms(request, candidate)):
            opened.spared = self._unarmed
        if opened.spared is not None:
            self._leave_alone(candidate, opened.spared, now)
            return NO_INJECTION
        self.armed = True
        opened.decision = self._judge(exchange, candidate, now, ())
        return opened.decision

    def response(self, exchange: Exchange, now: float, *, llm: bool = False) -> Decision:
        """Judge the site's answer by the rules that need it.

        What was left alone when it arrived is left alone now, whatever has happened since.
        """
        opened = self._open.get(exchange.id)
        if opened is None or exchange.response is None:
            return NO_INJECTION
        if opened.owed is not None:
            opened.answer = self._again(exchange.id, opened.owed)
            return opened.answer
        candidate = Candidate.of(exchange, llm=llm)
        spared = opened.spared or (None if self.armed else self._unarmed)
        if spared is not None:
            self._leave_alone(candidate, spared, now)
            opened.answer = NO_INJECTION
            return NO_INJECTION
        opened.answer = self._judge(exchange, candidate, now, opened.decision.injections)
        return opened.answer

    def connection_try(
        self,
        point: ConnectionPhase,
        host: str,
        port: int | None,
        now: float,
        *,
        met: bool | None = None,
    ) -> Decision:
        """Judge an attempt to reach a site: to find its name, to connect, to begin TLS.

        ``met``, for connections: True where a closed gate has stopped it already, False where it
        was let through, and so cannot be hit any more.
        """
        target = ConnectionTarget.of(point, host, port)
        return self._attempts.judge(target, self._moment(now, target), met)

    def connection_block(self, host: str, port: int | None, now: float) -> TryOutcome | None:
        """Return what the next connection would meet; nothing is counted by asking.

        ``port`` None stands for every port that is not among ``gate_ports``. The answer can change
        with every attempt, step, arming and second.
        """
        target = ConnectionTarget.of("connect", host, port)
        return self._attempts.gate(target, self._moment(now, target))

    def blocklist_ports(self, host: str) -> tuple[int, ...]:
        """Return the ports of a host for which ``gate`` may say something of their own."""
        return self._attempts.ports_with_own_block(host)

    def concerns(
        self,
        point: ConnectionPhase,
        host: str,
        port: int | None,
        rules: Container[str] | None = None,
    ) -> bool:
        """Whether a rule, of those named or of all, is about attempts there: they may fail."""
        return self._attempts.concerns(ConnectionTarget.of(point, host, port), rules)

    def in_force(self, now: float) -> tuple[frozenset[str], float | None]:
        """Return the rules about attempts that count now, and when the next window opens."""
        return self._attempts.active_rules(self._moment(now), before_page=self._awaits_page)

    def connection_url(self, point: ConnectionPhase, host: str, port: int | None) -> str:
        """Return how the ledger names an attempt."""
        return self._attempts.url_of(ConnectionTarget.of(point, host, port))

    def straddled(self, now: float) -> tuple[str, ...]:
        """Return the rules that have left an occurrence alone, unarmed, which is not over.

        Where a call arms them now, a replay, which is armed all along, cannot tell what comes next
        from what came before.
        """
        return self._attempts.rules_with_unarmed_occurrence(now)

    def _moment(self, now: float, target: ConnectionTarget | None = None) -> TrialState:
        """Return how the trial stands for attempts at a target.

        Before the first page, those at a task's site are its own: it cannot be asked for otherwise.
        """
        of_page = self._awaits_page and target is not None and self._attempts.is_site(target)
        return TrialState(now, self.steps, None if self.armed or of_page else self._unarmed)

    @property
    def _awaits_page(self) -> bool:
        return self.arm_at == "first_page" and not self.armed and not self.task_ended

    def finish(self, exchange_id: str) -> None:
        """Forget an exchange that ended in good order."""
        self._open.pop(exchange_id, None)

    def died(self, exchange_id: str, now: float) -> None:
        """Note that an exchange has ended in a way that a browser answers by a silent repeat.

        That is: our cut ended it, being hit by it or on the same connection; or it is answered
        408 or 421, by us or by the site. It must be called before the end reaches the client, since
        the repeat may come at once. Afterwards the exchange is forgotten, as by ``finish``.
        """
        if (opened := self._open.pop(exchange_id, None)) is not None:
            self._awaited.died(opened.request, now, opened)

    def settle(self, injection: PlannedInjection, *, delivered: bool) -> None:
        """Say what became of an injection.

        A miss gives the budget of ``random.times`` back, unless a silent repeat has brought the
        same occurrence again and is under way or was delivered.
        """
        self._planner.settle(injection, delivered=delivered)

    def llm_call(self, body_digest: str) -> None:
        """Note a call of the agent to its model; the same body again is the same step."""
        self._steps = self._steps.after(body_digest)
        # What comes after a call is the agent's doing, not the browser's.
        self._awaited.clear()
        if self.arm_at == "first_llm_call" and not self.task_ended:
            self.armed = True

    def skip_websocket_call(self, call: LlmExchange, now: float) -> None:
        """Note a call over a WebSocket, where nothing can be hit, for the rules about calls."""
        candidate = Candidate.of(call, llm=True)
        reason = "websocket" if self.armed else self._unarmed
        if self._is_never(candidate.url):
            reason = "never"
        for count in self._counts:
            if count.rule.targets_llm and count.matches(candidate):
                count.skipped[reason] += not count.outside_window(now, self.steps)

    def may_concern(self, method: str, url: str) -> bool:
        """Whether any rule could be about such a request, as far as method and URL tell."""
        url = normalise(url)
        return any(count.may_concern(method, url) for count in self._counts)

    def may_rewrite(self, method: str, url: str) -> bool:
        """Whether a rule that is judged by the answer could change that of such a request."""
        return any(
            count.judged_at_response
            and count.rule.fault.rewrites
            and count.may_concern(method, normalise(url))
            for count in self._counts
        )

    def arm(self) -> None:
        """Hit and count from here on."""
        self.armed, self.task_ended = True, False

    def disarm(self) -> None:
        """Leave everything alone from here on: the agent has ended its task."""
        self.armed, self.task_ended = False, True

    def add_one_shot(self, rule: Rule) -> None:
        """Add a one-shot: the rule's fault hits the next exchange that matches, then no other.

        If that injection is missed, the next one that matches is hit. The rule counts as if it had
        been there since the task began, so that a replay finds the same exchange; a replay that
        has the rule already takes no other. Raises ValueError where the rule is not ``per: url``
        and plainly ``always``, or another rule of the trial has its name.
        """
        if rule.per != "url" or rule.trigger != Trigger(always=True):
            raise ValueError("a one-shot numbers per url and is always triggered")
        there = self._called(rule.name)
        known = self._planner.replays and there == rule
        # One name in a ledger is one rule, whatever task it stands in.
        if not known and (there is not None or self._one_shots.get(rule.name, rule) != rule):
            raise ValueError(f"a rule called {rule.name!r} is there already")
        self._one_shots[rule.name] = rule
        if known:
            return
        count = RuleState(rule, self._sites, once=True)
        for candidate, number in self._arrived.parts():
            if count.judged_at_response == (candidate.status is not None) and count.matches(
                candidate
            ):
                count.count(candidate, number)
        for candidate, number in self._passed.parts():
            if count.judged_at_response == (candidate.status is not None) and count.matches(
                candidate
            ):
                count.count_unarmed(candidate, number)
        if count.of_connections:
            self._attempts.add(count)
        self._counts.append(count)

    def accepts_one_shot(self, rule: Rule) -> bool:
        """Whether a one-shot's name is free; in a replay, that it is the very rule will do."""
        there = self._called(rule.name)
        free = there is None or (self._planner.replays and there == rule)
        return free and rule.name not in self._one_shots

    def _called(self, name: str) -> Rule | None:
        return next((rule for rule in self.rules if rule.name == name), None)

    def begin_task(self, seed: int) -> None:
        """Begin a task: every count, memory and budget starts anew, under the task's own seed.

        What is still under way belongs to the task before, and is neither hit nor counted any more.
        """
        self._planner.begin_task(seed)
        self._begin()
        self._attempts.begin(self._counts)

    def _begin(self) -> None:
        self.armed, self.task_ended = self.arm_at == "start", False
        self._steps = StepCounter()
        self._arrived, self._passed = CompressedCounter(), CompressedCounter()
        self._counts = self._fresh_counts()
        self._open.clear()
        self._awaited.clear()

    def for_concurrent_task(self, seed: int) -> Self:
        """Return the injector of a task that runs at the same time as this one's.

        It has the scenario's rules and counts for itself, and numbers its injections among all of
        the trial. Attempts to connect stay with this one: nobody can tell whose they are.
        """
        other = copy(self)
        other._planner = self._planner.for_concurrent_task(seed)
        other._open, other._awaited, other._one_shots = {}, ExpectedRetries(), {}
        other._begin()
        return other

    def skipped(self) -> tuple[SkippedMatches, ...]:
        """Return what the rules matched but had to leave alone, one number a rule and reason."""
        return tuple(
            SkippedMatches(count.rule.name, reason, number)
            for count in self._counts
            for reason, number in count.skipped.items()
        )

    def unarmed_counts(self) -> dict[str, dict[str, int]]:
        """Return what came in this task while the rules were not armed, by rule and scope.

        It is what would have been counted: a place's ordinal and this are its ordinal in a trial
        that was armed all along.
        """
        return {count.rule.name: dict(count.unarmed) for count in self._counts if count.unarmed}

    @property
    def _unarmed(self) -> str:
        return "trial_over" if self.task_ended else "not_armed"

    def _arms(self, request: Request, candidate: Candidate) -> bool:
        """Whether this is the first page: a browser's, or what stands for it in a program."""
        is_page = request.is_top_level or (
            not candidate.llm
            and candidate.resource in self._pages_of_programs
            and not is_known_llm_host(host_of(candidate.url))
            and "sec-fetch-dest" not in request.headers
        )
        return self._awaits_page and is_page and self._is_site(candidate.url)

    def _is_verifier(self, request: Request) -> bool:
        return request.headers.get("user-agent", "").startswith(self._never_agents or ("\0",))

    def _leave_alone(self, candidate: Candidate, reason: str, now: float) -> None:
        if reason != "never":
            self._passed.add(candidate)
        for count in self._judging(candidate):
            if count.matches(candidate):
                count.skipped[reason] += 1
                if reason != "never" and not count.outside_window(now, self.steps):
                    count.count_unarmed(candidate)

    def _judging(self, candidate: Candidate) -> Iterable[RuleState]:
        answered = candidate.status is not None
        return (count for count in self._counts if count.judged_at_response == answered)

    def _judge(
        self,
        exchange: Exchange,
        candidate: Candidate,
        now: float,
        standing: tuple[PlannedInjection, ...],
    ) -> Decision:
        self._arrived.add(candidate)
        exchange = replace(exchange, at=now)
        injections: list[PlannedInjection] = []
        superseded: list[PlannedInjection] = []
        for count in self._judging(candidate):
            if not count.matches(candidate) or count.outside_window(now, self.steps):
                continue
            scope, ordinal = count.count(candidate)
            goes_on = count.still_applies(exchange)
            if not self._planner.fires(count, scope, ordinal, goes_on=goes_on):
                continue
            injection, memory = self._planner.plan(count, exchange, scope, ordinal)
            if goes_on and count.ongoing is not None:
                injection = replace(injection, repeat_of=count.ongoing.id)
            if any(collide(earlier, injection) for earlier in (*standing, *injections)):
                superseded.append(injection)
                continue
            injections.append(self._planner.commit(count, injection, memory))
        return Decision(tuple(injections), tuple(superseded))

    def _repeat(self, opened: _Open, first: _Open) -> Decision:
        opened.spared = first.spared
        opened.owed = first.owed if first.answer is None else first.answer
        return replace(self._again(opened.exchange, first.decision), repeat_of=first.exchange)

    def _again(self, exchange_id: str, first: Decision) -> Decision:
        """Plan again what a repeat's first exchange got."""
        if not self.armed:
            return NO_INJECTION

        def copy(injection: PlannedInjection) -> PlannedInjection:
            return self._planner.plan_repeat(injection, exchange_id)

        return Decision(tuple(map(copy, first.injections)), tuple(map(copy, first.superseded)))
