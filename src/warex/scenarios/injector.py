"""The decision: given a scenario and an exchange, what is injected?

This is the heart of WAREX and it does no I/O. It owns all state of one trial: what each rule has
counted, what each fault remembers, whether the rules are armed.

Counting. Every rule counts what it matches, whatever other rules did. ``per: rule`` numbers all of
them in order of arrival and draws by (seed, rule, ordinal); ``per: url`` numbers each method + URL
by itself and draws by (seed, rule, method, URL, ordinal), so that parallel sub-resources are hit
alike in any order. A rule is judged when the request arrives, or, if its match has response-side
keys, when the site has answered. Outside a trigger's windows nothing is counted: `{first: 1}` with
`after_step: 3` is the first one after step 3.

Silent repeats. When a connection dies under a request, Chromium sends the request again, POST too,
without telling the page. Such a repeat is no new occurrence: it gets what the first got, and is
logged as a repeat.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from warex.exchange import Exchange, Request, resource_of
from warex.faults import Effect, Memory, Stage, ends
from warex.scenarios.never import NEVER
from warex.scenarios.patterns import any_of, matcher, names_host, normalise, on_sites
from warex.scenarios.scenario import Arm, Rule, Scenario
from warex.seeds import Luck, draw

REPEAT_WINDOW: Final = 0.3
"""Seconds after a cut within which an equal request is the browser's own repeat."""

type Mark = tuple[int, str, str, int]
"""A place in the count: task (0 before the first begins), rule, scope ("" or "METHOD URL") and
ordinal."""

type Schedule = frozenset[Mark]
"""Exactly which places are hit: a past ledger, turned into ordinals."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One fault on its way into one exchange."""

    id: str
    exchange: str
    rule: str
    fault: Mapping[str, JsonValue]
    stage: Stage
    scope: str
    ordinal: int
    effects: tuple[Effect, ...]
    repeat_of: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to an exchange, in the order of the rules."""

    injections: tuple[Injection, ...] = ()
    superseded: tuple[Injection, ...] = ()
    """Planned, but an earlier rule already ends the exchange."""
    repeat_of: str | None = None
    """The exchange that the browser silently repeats."""


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """How many matching exchanges a rule had to leave alone, and why."""

    rule: str
    reason: str
    count: int


NOTHING: Final = Decision()


@dataclass(slots=True)
class _Count:
    """The state of one rule in one trial."""

    rule: Rule
    url_fits: Callable[[str], bool]
    seen: Counter[str] = field(default_factory=Counter)
    spent: Counter[str] = field(default_factory=Counter)
    """Budget of ``random.times`` in use: planned or delivered, not missed."""
    memory: Memory = field(default_factory=dict)
    left_alone: Counter[str] = field(default_factory=Counter)
    once: bool = False
    """Whether the rule is a one-shot: it hits the next one that matches, and no other."""


@dataclass(slots=True)
class _Open:
    """An exchange under way."""

    request: Request
    decision: Decision
    answer: Decision | None = None
    first: "_Open | None" = None
    """The exchange whose silent repeat this is."""
    ended: bool = False
    """Whether an injection already ends the exchange."""


@dataclass(frozen=True, slots=True)
class _Death:
    """An exchange that died of our cut: its repeat is awaited."""

    at: float
    steps: int
    exchange: str
    opened: _Open


class Injector:
    """Decides, exchange by exchange, what a scenario injects in one trial.

    ``sites``: the task sites' origins, for `{sites}` and for arming. ``never``: URL globs left
    alone beside the built-in and the scenario's own. ``arm`` overrides the scenario's. With a
    ``schedule`` the triggers are ignored and exactly its places are hit.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        *,
        sites: tuple[str, ...] = (),
        never: tuple[str, ...] = (),
        arm: Arm | None = None,
        schedule: Schedule | None = None,
    ) -> None:
        self.scenario = scenario
        self.seed = seed
        self.arm_at: Arm = arm or scenario.arm or "start"
        self.armed = self.arm_at == "start"
        self.steps = 0
        self._sites = sites
        self._schedule = schedule
        self._is_never = any_of((*NEVER, *scenario.never, *never))
        self._is_site = on_sites(sites)
        self._over = False
        self._task = 0
        self._last_step: str | None = None
        self._injections = 0
        self._arrived: Counter[str] = Counter()
        self._counts = [self._count(rule) for rule in scenario.rules]
        self._open: dict[str, _Open] = {}
        self._deaths: dict[tuple[str, str, str], _Death] = {}

    def _count(self, rule: Rule) -> _Count:
        return _Count(rule, matcher(rule.match, self._sites))

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force: the scenario's and those added since."""
        return tuple(count.rule for count in self._counts)

    def request(self, exchange: Exchange, now: float, *, llm: bool = False) -> Decision:
        """Judge a request that has arrived; ``now`` in seconds of the trial.

        ``llm``: the request goes to a model. No rule is about it unless it spells its host out.
        """
        request = exchange.request
        url = normalise(request.url)
        if request.is_preflight or request.is_prefetch:
            return self._remember(exchange, NOTHING)
        if (death := self._awaited(request, now)) is not None:
            return self._repeat(exchange, death)
        if self._is_never(url):
            self._leave_alone(exchange, url, llm, "never")
            return self._remember(exchange, NOTHING)
        if self._arms(request, url):
            self.armed = True
        if not self.armed:
            reason = "trial_over" if self._over else "not_armed"
            self._leave_alone(exchange, url, llm, reason)
            return self._remember(exchange, NOTHING)
        self._arrived[f"{request.method} {url}"] += 1
        rules = [count for count in self._counts if not count.rule.match.needs_response]
        return self._remember(exchange, self._judge(exchange, url, now, llm, rules))

    def response(self, exchange: Exchange, now: float, *, llm: bool = False) -> Decision:
        """Judge the site's answer by the rules that need it."""
        opened = self._open.get(exchange.id)
        if opened is None or not self.armed:
            return NOTHING
        if opened.first is not None and opened.first.answer is not None:
            opened.answer = self._again(exchange.id, opened.first.answer)
            return opened.answer
        rules = [count for count in self._counts if count.rule.match.needs_response]
        url = normalise(exchange.request.url)
        if rules and not self._is_never(url):
            opened.answer = self._judge(exchange, url, now, llm, rules)
            return opened.answer
        return NOTHING

    def finish(self, exchange_id: str) -> None:
        """Forget an exchange that ended in good order."""
        self._open.pop(exchange_id, None)

    def died(self, exchange_id: str, now: float) -> None:
        """Note that our cut ended this exchange: hit by it, or on the same connection."""
        if (opened := self._open.pop(exchange_id, None)) is not None:
            death = _Death(now, self.steps, exchange_id, opened)
            self._deaths[_identity(opened.request)] = death

    def settle(self, injection: Injection, *, delivered: bool) -> None:
        """Say what became of an injection. A miss gives the budget of ``random.times`` back."""
        if delivered or injection.repeat_of is not None:
            return
        for count in self._counts:
            if count.rule.name == injection.rule:
                count.spent[injection.scope] -= 1

    def llm_call(self, body_digest: str) -> None:
        """Note a call of the agent to its model; the same body again is the same step."""
        if body_digest != self._last_step:
            self._last_step = body_digest
            self.steps += 1
        if self.arm_at == "first_llm_call" and not self._over:
            self.armed = True

    def may_concern(self, method: str, url: str) -> bool:
        """Whether any rule could be about such a request, as far as method and URL tell."""
        url = normalise(url)
        return any(
            count.rule.match.method is None or method in count.rule.match.method
            for count in self._counts
            if count.url_fits(url)
        )

    def arm(self) -> None:
        """Hit and count from here on."""
        self.armed, self._over = True, False

    def disarm(self) -> None:
        """Leave everything alone from here on: the agent has ended its task."""
        self.armed, self._over = False, True

    def add_once(self, rule: Rule) -> None:
        """Add a one-shot: the rule's fault hits the next exchange that matches, then no other.

        It takes the place in the count that it would have had from the start, so that a replay
        finds the same exchange. Raises ValueError where the rule is not ``per: url`` and
        ``always``, or its name is taken.
        """
        if rule.per != "url" or not rule.trigger.always:
            raise ValueError("a one-shot numbers per url and is always triggered")
        if any(count.rule.name == rule.name for count in self._counts):
            raise ValueError(f"a rule called {rule.name!r} is there already")
        count = self._count(rule)
        count.once = True
        # The arrivals so far of everything; what the rule does not match is never asked for.
        count.seen.update(self._arrived)
        self._counts.append(count)

    def begin_task(self, seed: int) -> None:
        """Begin a task: every count, memory and budget starts anew, under the task's own seed."""
        self.seed = seed
        self.steps = 0
        self.armed, self._over = self.arm_at == "start", False
        self._task += 1
        self._last_step = None
        self._arrived.clear()
        self._counts = [self._count(rule) for rule in self.scenario.rules]
        self._deaths.clear()

    def left_alone(self) -> tuple[LeftAlone, ...]:
        """Return what the rules matched but had to leave alone, one number a rule and reason."""
        return tuple(
            LeftAlone(count.rule.name, reason, number)
            for count in self._counts
            for reason, number in count.left_alone.items()
        )

    def _arms(self, request: Request, url: str) -> bool:
        return (
            self.arm_at == "first_page"
            and not self.armed
            and not self._over
            and request.is_top_level
            and self._is_site(url)
        )

    def _leave_alone(self, exchange: Exchange, url: str, llm: bool, reason: str) -> None:
        for count in self._counts:
            if _matches(count, exchange, url, llm):
                count.left_alone[reason] += 1

    def _judge(
        self, exchange: Exchange, url: str, now: float, llm: bool, counts: list[_Count]
    ) -> Decision:
        injections: list[Injection] = []
        superseded: list[Injection] = []
        opened = self._open.get(exchange.id)
        ended = opened is not None and opened.ended
        for count in counts:
            rule = count.rule
            if not _matches(count, exchange, url, llm) or not self._in_window(rule, now):
                continue
            scope = "" if rule.per == "rule" else f"{exchange.request.method} {url}"
            count.seen[scope] += 1
            ordinal = count.seen[scope]
            if not self._fires(count, scope, ordinal):
                continue
            luck = Luck(self.seed, rule.name)
            effects, memory = rule.fault.effects(exchange, count.memory, luck)
            self._injections += 1
            injection = Injection(
                id=f"i{self._injections}",
                exchange=exchange.id,
                rule=rule.name,
                fault=rule.fault.model_dump(mode="json"),
                stage=rule.fault.stage,
                scope=scope,
                ordinal=ordinal,
                effects=effects,
            )
            if ended and (injection.stage == "response" or any(map(ends, effects))):
                superseded.append(injection)
                continue
            count.memory = memory
            count.spent[scope] += 1
            injections.append(injection)
            ended = ended or any(map(ends, effects))
        return Decision(tuple(injections), tuple(superseded))

    def _fires(self, count: _Count, scope: str, ordinal: int) -> bool:
        rule, trigger = count.rule, count.rule.trigger
        if self._schedule is not None:
            return (self._task, rule.name, scope, ordinal) in self._schedule
        if count.once:
            return count.spent.total() == 0
        if trigger.first is not None:
            return ordinal <= trigger.first
        if trigger.nth is not None:
            return ordinal in trigger.nth
        if trigger.every is not None:
            return ordinal % trigger.every == 0
        about = (rule.name, *scope.split(" ", 1)) if scope else (rule.name,)
        luck = draw(self.seed, *about, ordinal)
        if trigger.random is not None:
            within_budget = count.spent[scope] < trigger.random.times
            return within_budget and luck < trigger.random.probability
        return trigger.probability is None or luck < trigger.probability

    def _in_window(self, rule: Rule, now: float) -> bool:
        window, after_step = rule.trigger.between, rule.trigger.after_step
        return (window is None or window[0] <= now < window[1]) and (
            after_step is None or self.steps >= after_step
        )

    def _remember(self, exchange: Exchange, decision: Decision) -> Decision:
        ended = any(ends(effect) for hit in decision.injections for effect in hit.effects)
        self._open[exchange.id] = _Open(exchange.request, decision, ended=ended)
        return decision

    def _awaited(self, request: Request, now: float) -> _Death | None:
        if not self._deaths:
            return None
        death = self._deaths.pop(_identity(request), None)
        if death is None or now - death.at > REPEAT_WINDOW or death.steps != self.steps:
            return None
        return death

    def _repeat(self, exchange: Exchange, death: _Death) -> Decision:
        again = self._again(exchange.id, death.opened.decision)
        decision = replace(again, repeat_of=death.exchange)
        self._open[exchange.id] = _Open(
            exchange.request, decision, first=death.opened, ended=death.opened.ended
        )
        return decision

    def _again(self, exchange_id: str, first: Decision) -> Decision:
        def copy(injection: Injection) -> Injection:
            self._injections += 1
            return replace(
                injection,
                id=f"i{self._injections}",
                exchange=exchange_id,
                repeat_of=injection.repeat_of or injection.id,
            )

        return Decision(tuple(map(copy, first.injections)), tuple(map(copy, first.superseded)))


def _identity(request: Request) -> tuple[str, str, str]:
    return (request.method, normalise(request.url), request.body_digest)


def _matches(count: _Count, exchange: Exchange, url: str, llm: bool) -> bool:
    rule, request, response = count.rule, exchange.request, exchange.response
    match = rule.match
    if match.method is not None and request.method not in match.method:
        return False
    if not count.url_fits(url):
        return False
    if llm and not names_host(match, request.parts.hostname or ""):
        return False
    if rule.resources and resource_of(request, response) not in rule.resources:
        return False
    if response is None:
        # Only asked in order to say how many were left alone; the answer is not known yet.
        return True
    if match.status is not None and response.status not in match.status:
        return False
    return match.content_type is None or any(
        _media_type_fits(wanted, response.headers.get("content-type", ""))
        for wanted in match.content_type
    )


def _media_type_fits(wanted: str, value: str) -> bool:
    media_type = value.partition(";")[0].strip().lower()
    kind, _, subtype = wanted.lower().partition("/")
    return media_type == wanted.lower() or (subtype == "*" and media_type.startswith(f"{kind}/"))
