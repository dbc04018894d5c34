"""Which attempts to reach a site fail, before there is a request.

A client asks for the site's name, connects, and begins TLS; each of these is an attempt, and a rule
with a connection fault is about one of the three. All attempts at one host and port within the
fault's ``hold`` seconds of the first are one occurrence, hit or not: browsers try a second address
and try again, and nobody learns of it. Where the first one's client waits before it knows that it
has failed, the hold begins then. Triggers count occurrences.

What had to be left alone because the rules were not armed is an occurrence too; but arming ends it,
so that the next attempt can be hit. A rule that is always triggered has no occurrences between its
hits: each attempt that it leaves alone is counted by itself, so that a one-shot can hit the very
next one, and a replay, which has the rule from the start, the same.

``gate`` looks ahead. A connection is refused by the kernel, before anybody could be asked; so the
proxy must know beforehand what the next attempt would meet.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from warex.exchange import Exchange, Request
from warex.faults import ConnectionFault, ConnectionPhase, Fault, FaultState
from warex.llm.recognition.hosts import host_matches, is_known_llm_host
from warex.packed import CompressedList
from warex.scenarios.injection.planner import (
    NO_INJECTION,
    Decision,
    PlannedInjection,
    Planner,
    collide,
)
from warex.scenarios.injection.rule_state import RuleState
from warex.scenarios.matching.url_patterns import host_of, names_host, normalise
from warex.scenarios.origins import (
    ConnectionTarget,
    OriginPattern,
    is_loopback,
    matches_any,
    origins_of_sites,
    parse_origin_pattern,
)
from warex.scenarios.scenario import SITES, Match
from warex.seeds import KeyedRng

type TryOutcome = Literal["refuse", "drop"]
"""What a connection meets that is not let through."""

_GATE_LATENESS: Final = 0.25
"""Seconds by which the kernel's gate may open late: until then it stops what is due no more."""
_PROBE: Final = "warex-probe"
"""A path that no pattern spells out: what matches it matches the whole site."""
_ANY: Final = ("http", "https")
_SPOKEN: Final[Mapping[int, tuple[str, ...]]] = {80: ("http",), 443: ("https",)}


class TrialState(NamedTuple):
    """When an attempt is judged: the second of the trial, and how the trial stands."""

    now: float
    steps: int
    spared: str | None = None
    """Why no rule may hit anything; None while armed."""


@dataclass(frozen=True, slots=True)
class _Held:
    """An occurrence: its first attempt, and what was decided for it."""

    until: float
    exchange: str
    scope: str
    ordinal: int
    injection: PlannedInjection | None = None
    spared: str | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """What an attempt would be to a rule."""

    what: Literal["repeat", "spared", "outside", "new"]
    hit: bool = False
    held: _Held | None = None
    scope: str = ""
    ordinal: int = 0


class _Rule:
    """One rule about attempts: its count, and the occurrences that are not over."""

    def __init__(self, count: RuleState, sites: tuple[str, ...]) -> None:
        fault = count.rule.fault
        assert isinstance(fault, ConnectionFault)
        self.count = count
        self.point: ConnectionPhase = fault.point
        self.hold, self.lasts, self.tries_for = (
            fault.hold,
            fault.gives_up_after_s,
            fault.retries_for_s,
        )
        self.always = count.rule.trigger.always is True
        self.gate: TryOutcome | None = _gate_of(fault)
        self.origins = _origins(count.rule.match, sites)
        self.fits = matches_any(self.origins)
        self._match = count.rule.match
        self.of_sites = not sites or (self._match.url or "").startswith(SITES)
        """Whether it is about the task's sites and no others; where none are known, all are."""
        self._held: dict[ConnectionTarget, _Held] = {}

    def matches_request(self, target: ConnectionTarget, *, llm: bool) -> bool:
        """Whether the rule is about a target; about a model's only if it spells the host out."""
        if target.point != self.point or not self.fits(target):
            return False
        return not llm or names_host(self._match, target.host)

    def held(self, target: ConnectionTarget, now: float) -> _Held | None:
        """Return the occurrence that an attempt now would belong to."""
        held = self._held.get(target)
        return held if held is not None and now < held.until else None

    def recently_ended(self, target: ConnectionTarget, now: float) -> _Held | None:
        """Return the hit occurrence that ended so lately that its gate may still be closed."""
        held = self._held.get(target)
        if held is None or held.injection is None:
            return None
        return held if held.until <= now < held.until + _GATE_LATENESS else None

    def begin_occurrence(self, target: ConnectionTarget, held: _Held) -> None:
        """Begin an occurrence."""
        self._held[target] = held

    def alive(self, now: float) -> Iterable[tuple[ConnectionTarget, _Held]]:
        """Return the occurrences that are not over."""
        return ((it, held) for it, held in self._held.items() if now < held.until)


class ConnectionTryRules:
    """Judges attempts to reach a site, for one trial.

    ``own_hosts`` are WAREX's own and never judged; ``llm_hosts`` are models' beside the well-known
    ones, and `*.example` is allowed.
    """

    def __init__(
        self,
        planner: Planner,
        is_never: Callable[[str], bool],
        *,
        sites: tuple[str, ...] = (),
        own_hosts: tuple[str, ...] = (),
        llm_hosts: tuple[str, ...] = (),
    ) -> None:
        self._planner = planner
        self._is_never = is_never
        self._sites = sites
        self._site_origins = origins_of_sites(sites)
        self._own_hosts = frozenset(own_hosts)
        self._llm_hosts = llm_hosts
        self._llm_places: set[tuple[str, int]] = set()
        self._spared: dict[ConnectionTarget, bool] = {}
        self._number = 0
        self._rules: list[_Rule] = []
        self._past: CompressedList[tuple[ConnectionTarget, TrialState]] = CompressedList()
        self._tried: dict[str, set[int]] = {}
        """Where connections were tried, by host."""

    def begin(self, counts: Iterable[RuleState]) -> None:
        """Begin a task: every count and occurrence starts anew."""
        self._rules = [_Rule(it, self._sites) for it in counts if it.of_connections]
        self._past = CompressedList()

    def add(self, count: RuleState) -> None:
        """Add a one-shot, which counts as if it had been there since the task began."""
        rule = _Rule(count, self._sites)
        for target, moment in self._past:
            if rule.matches_request(target, llm=self._is_llm(target)) and moment.spared != "never":
                (count.count if moment.spared is None else count.count_unarmed)(target)
        self._rules.append(rule)

    def note_llm(self, url: str) -> None:
        """Note where a model answers; no rule is about it unless it spells its host out."""
        url = normalise(url)
        host, place = host_of(url), url.partition("://")[2].partition("/")[0]
        port = place.rpartition(":")[2]
        default = 80 if url.startswith("http:") else 443
        self._llm_places.add((host, int(port) if port.isdigit() else default))

    def judge(
        self, target: ConnectionTarget, moment: TrialState, met: bool | None = None
    ) -> Decision:
        """Count an attempt and say what it meets.

        ``met``: whether the kernel has stopped the connection already; None where nothing has
        happened to it yet. One that was let through cannot be hit any more: where it would have
        been, it came before the gate was closed, and is not counted. One that was stopped is hit,
        also if the look-ahead that stopped it was overtaken by another attempt; where an occurrence
        has only just ended, its gate opened late, and it still belongs to that one.
        """
        if target.host in self._own_hosts:
            return NO_INJECTION
        self._number += 1
        exchange = Exchange(f"a{self._number}", Request("CONNECT", self.url_of(target)))
        if self._is_spared(target):
            moment = moment._replace(spared="never")
        self._past.append((target, moment))
        if target.point == "connect" and target.port is not None:
            self._tried.setdefault(target.host, set()).add(target.port)
        rules = self._about(target)
        looks = [(rule, self._look(rule, target, moment)) for rule in rules]
        if met and not any(look.hit for _, look in looks):
            looks = [(rule, _late(rule, target, moment) or look) for rule, look in looks]
        forced = rules[0] if met and rules and not any(look.hit for _, look in looks) else None
        return self._decide(exchange, target, moment, looks, met, forced)

    def is_site(self, target: ConnectionTarget) -> bool:
        """Whether a target is one of the task's sites; each is where none are known."""
        return any(origins.matches(target) for origins in self._site_origins)

    def gate(self, target: ConnectionTarget, moment: TrialState) -> TryOutcome | None:
        """Return what the next connection to a target would meet; None if it is let through.

        A target without a port stands for every port that is not in ``ports``.
        """
        if target.host in self._own_hosts or self._is_spared(target):
            return None
        for rule in self._about(target):
            if self._look(rule, target, moment).hit:
                return rule.gate
        return None

    def ports_with_own_block(self, host: str) -> tuple[int, ...]:
        """Return the ports of a host for which ``gate`` may say something of their own.

        Beside those that rules name: where something was tried, since it is counted there, and the
        web's own, since a draw goes by the port; but a loopback port belongs to whoever listens.
        """
        host = ConnectionTarget.of("connect", host, None).host
        ports = {port for name, port in self._llm_places if name == host}
        for rule in self._rules:
            if rule.point != "connect":
                continue
            named = {it.port for it in rule.origins if it.names_host(host)}
            ports.update(filter(None, named))
            if None in named:
                ports.update(self._tried.get(host, ()), () if is_loopback(host) else _SPOKEN)
        return tuple(sorted(ports))

    def concerns(self, target: ConnectionTarget, rules: Container[str] | None = None) -> bool:
        """Whether a rule, of those named or of all, is about a target, so that it may fail."""
        if target.host in self._own_hosts or self._is_spared(target):
            return False
        about = self._about(target)
        return any(rules is None or rule.count.rule.name in rules for rule in about)

    def active_rules(
        self, moment: TrialState, *, before_page: bool = False
    ) -> tuple[frozenset[str], float | None]:
        """Return the rules that count now, and the second at which the next window opens.

        ``before_page``: the first page has not been asked for, but rules about the sites count.
        """
        found: set[str] = set()
        opens: list[float] = []
        for rule in self._rules:
            window = rule.count.rule.trigger.between
            if window is not None and window[0] > moment.now:
                opens.append(window[0])
            counts = moment.spared is None or (before_page and rule.of_sites)
            if counts and not rule.count.outside_window(moment.now, moment.steps):
                found.add(rule.count.rule.name)
        return frozenset(found), min(opens, default=None)

    def rules_with_unarmed_occurrence(self, now: float) -> tuple[str, ...]:
        """Return the rules that have left an occurrence alone, unarmed, which is not over."""
        return tuple(
            rule.count.rule.name
            for rule in self._rules
            if any(held.spared is not None for _, held in rule.alive(now))
        )

    def url_of(self, target: ConnectionTarget) -> str:
        """Return how the ledger names a target; an unusual port has the scheme of its site."""
        for origins in self._site_origins:
            if len(origins.schemes) == 1 and origins.port is not None and origins.matches(target):
                [scheme] = origins.schemes
                return target.url_with(scheme)
        return target.url

    def _decide(
        self,
        exchange: Exchange,
        target: ConnectionTarget,
        moment: TrialState,
        looks: Sequence[tuple[_Rule, _Look]],
        met: bool | None,
        forced: _Rule | None,
    ) -> Decision:
        injections: list[PlannedInjection] = []
        superseded: list[PlannedInjection] = []
        repeat_of: str | None = None
        for rule, look in looks:
            if look.hit and met is False:
                continue
            planned = self._count(rule, look, exchange, target, moment, forced is rule)
            if planned is None:
                continue
            injection, memory = planned
            if look.held is not None and injection.repeat_of is not None:
                repeat_of = repeat_of or look.held.exchange
            if any(collide(earlier, injection) for earlier in injections):
                # What another rule's fault takes the place of never was: nobody waits for it, no
                # attempt repeats it, and in a replay it is not there.
                superseded.append(injection)
                continue
            if injection.repeat_of is None:
                injection = self._planner.commit(rule.count, injection, memory)
                if look.hit:
                    rule.begin_occurrence(target, _held(rule, injection, moment.now))
            injections.append(injection)
        return Decision(tuple(injections), tuple(superseded), repeat_of)

    def _count(
        self,
        rule: _Rule,
        look: _Look,
        exchange: Exchange,
        target: ConnectionTarget,
        moment: TrialState,
        forced: bool,
    ) -> tuple[PlannedInjection, FaultState] | None:
        """Count an attempt for a rule; return the injection if it is hit."""
        count = rule.count
        if look.what == "repeat" and look.held is not None:
            if look.hit and look.held.injection is not None:
                return self._planner.plan_repeat(look.held.injection, exchange.id), count.memory
            if forced:
                return self._planner.plan(count, exchange, look.held.scope, look.held.ordinal)
            return None
        if look.what == "spared":
            self._leave_alone(rule, exchange, target, moment)
        if look.what != "new" and not forced:
            return None
        scope, ordinal = count.count(target)
        if not rule.always:
            held = _Held(moment.now + rule.hold, exchange.id, scope, ordinal)
            rule.begin_occurrence(target, held)
        hit = look.hit or forced
        return self._planner.plan(count, exchange, scope, ordinal) if hit else None

    def _leave_alone(
        self, rule: _Rule, exchange: Exchange, target: ConnectionTarget, moment: TrialState
    ) -> None:
        reason = moment.spared or ""
        rule.count.skipped[reason] += 1
        if reason == "never" or rule.count.outside_window(moment.now, moment.steps):
            return
        scope, ordinal = rule.count.count_unarmed(target)
        if not rule.always:
            until = moment.now + rule.hold
            held = _Held(until, exchange.id, scope, ordinal, spared=reason)
            rule.begin_occurrence(target, held)

    def _look(self, rule: _Rule, target: ConnectionTarget, moment: TrialState) -> _Look:
        """Say what an attempt would be to a rule. Nothing changes by asking."""
        held = rule.held(target, moment.now)
        armed_since = held is not None and held.spared is not None and moment.spared is None
        if held is not None and not armed_since:
            # What begins to fail too late would come through after all.
            in_time = moment.now < held.until - rule.tries_for
            hit = held.injection is not None and moment.spared is None and in_time
            return _Look("repeat", hit, held)
        if moment.spared is not None:
            return _Look("spared")
        if rule.count.outside_window(moment.now, moment.steps):
            return _Look("outside")
        scope, ordinal = rule.count.next(target)
        return _Look("new", self._planner.fires(rule.count, scope, ordinal))

    def _about(self, target: ConnectionTarget) -> list[_Rule]:
        llm = self._is_llm(target)
        return [rule for rule in self._rules if rule.matches_request(target, llm=llm)]

    def _is_llm(self, target: ConnectionTarget) -> bool:
        if target.point == "name":
            answers_here = any(host == target.host for host, _ in self._llm_places)
        else:
            answers_here = (target.host, target.port) in self._llm_places
        return (
            answers_here
            or is_known_llm_host(target.host)
            or any(host_matches(pattern, target.host) for pattern in self._llm_hosts)
        )

    def _is_spared(self, target: ConnectionTarget) -> bool:
        """Whether the scenario never touches the site, whatever is asked of it."""
        if (known := self._spared.get(target)) is not None:
            return known
        schemes = ("https",) if target.point == "tls" else _SPOKEN.get(target.port or 0, _ANY)
        roots = [target.url_with(scheme) for scheme in schemes]
        spared = any(
            all(self._is_never(normalise(url)) for url in (root, root + _PROBE)) for root in roots
        )
        self._spared[target] = spared
        return spared


def _late(rule: _Rule, target: ConnectionTarget, moment: TrialState) -> _Look | None:
    """Return what a connection is that the kernel stopped for an occurrence that had just ended."""
    held = rule.recently_ended(target, moment.now)
    return _Look("repeat", True, held) if held is not None and moment.spared is None else None


def _origins(match: Match, sites: tuple[str, ...]) -> tuple[OriginPattern, ...]:
    if match.url_exact is not None:
        return (parse_origin_pattern(match.url_exact, exact=True),)
    if match.url is None:
        return (parse_origin_pattern("*"),)
    if match.url.startswith(SITES):
        return origins_of_sites(sites)
    return (parse_origin_pattern(match.url),)


def _gate_of(fault: Fault) -> TryOutcome | None:
    attempt = Exchange("", Request("CONNECT", "https://site.example/"))
    effects, _ = fault.effects(attempt, {}, KeyedRng(0, ""))
    return next((effect.traits.kernel for effect in effects if effect.traits.kernel), None)


def _held(rule: _Rule, injection: PlannedInjection, now: float) -> _Held:
    until = now + rule.hold + rule.lasts
    return _Held(until, injection.exchange, injection.scope, injection.ordinal, injection)
