"""Which connection tries fail, before there is a request.

A client looks the site's name up, connects, and begins TLS; each of these is a connection try, and
a rule with a connection fault is about one of the three. All tries at one host and port within the
fault's ``hold`` seconds of the first are one occurrence, hit or not, since browsers silently try a
second address and try again. If the client waits before it knows of the failure, the hold begins
then. Triggers count occurrences.

A try that is skipped because the rules are not armed begins an occurrence, too, but arming ends it,
so that the next try can be hit. A rule that is always triggered has no occurrences between its
hits: each skipped try counts by itself, so that a one-shot can hit the next one, and a replay,
which has the rule from the start, hits the same.

``gate`` looks ahead: the kernel refuses a connection before the proxy sees it, so the proxy must
know in advance what happens to the next try.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from warex.exchange import Exchange, Request
from warex.faults import ConnectionFault, ConnectionPhase, FaultState
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

type TryOutcome = Literal["refuse", "drop"]
"""What the kernel does to a blocked connection."""

_GATE_LATENESS: Final = 0.25
"""Seconds by which the kernel's block may be removed too late."""
_PROBE: Final = "warex-probe"
"""A path that no pattern names; a pattern that matches it matches the whole site."""
_ANY: Final = ("http", "https")
_SPOKEN: Final[Mapping[int, tuple[str, ...]]] = {80: ("http",), 443: ("https",)}


class TrialState(NamedTuple):
    """The state of the trial when a try is judged: its second, and its steps."""

    now: float
    steps: int
    spared: str | None = None
    """Why the try is skipped; None while armed."""


@dataclass(frozen=True, slots=True)
class _Held:
    """An occurrence: its first try, and the decision for it."""

    until: float
    exchange: str
    scope: str
    ordinal: int
    injection: PlannedInjection | None = None
    spared: str | None = None


@dataclass(frozen=True, slots=True)
class _Look:
    """How a rule sees a try."""

    what: Literal["repeat", "spared", "outside", "new"]
    hit: bool = False
    held: _Held | None = None
    scope: str = ""
    ordinal: int = 0


class _Rule:
    """One rule about connection tries: its count, and its current occurrences."""

    def __init__(self, count: RuleState, sites: tuple[str, ...]) -> None:
        fault = count.rule.fault
        assert isinstance(fault, ConnectionFault)
        self.count = count
        self.point: ConnectionPhase = fault.point
        self.hold, self.lasts = fault.hold, fault.gives_up_after_s
        self.tries_for = fault.retries_for_s
        self.always = count.rule.trigger.always is True
        self.gate: TryOutcome | None = fault.effect().traits.kernel
        self.origins = _origins(count.rule.match, sites)
        self.fits = matches_any(self.origins)
        self._match = count.rule.match
        self.of_sites = not sites or (self._match.url or "").startswith(SITES)
        """Whether it is about the task's sites only; all are task sites if none are known."""
        self._held: dict[ConnectionTarget, _Held] = {}

    def matches_request(self, target: ConnectionTarget, *, llm: bool) -> bool:
        """Whether the rule is about a target; about a model's only if it names the host."""
        if target.point != self.point or not self.fits(target):
            return False
        return not llm or names_host(self._match, target.host)

    def held(self, target: ConnectionTarget, now: float) -> _Held | None:
        """Return the occurrence that a try now would belong to."""
        held = self._held.get(target)
        return held if held is not None and now < held.until else None

    def recently_ended(self, target: ConnectionTarget, now: float) -> _Held | None:
        """Return the hit occurrence that has just ended, so that its block may still be active."""
        held = self._held.get(target)
        if held is None or held.injection is None:
            return None
        return held if held.until <= now < held.until + _GATE_LATENESS else None

    def begin_occurrence(self, target: ConnectionTarget, held: _Held) -> None:
        """Begin an occurrence."""
        self._held[target] = held

    def alive(self, now: float) -> Iterable[tuple[ConnectionTarget, _Held]]:
        """Return the current occurrences."""
        return ((it, held) for it, held in self._held.items() if now < held.until)


class ConnectionTryRules:
    """Judges connection tries, for one trial.

    ``own_hosts`` are WAREX's own and never judged; ``llm_hosts`` are hosts of models besides the
    well-known ones, also as `*.example`.
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
        """The ports that were tried, by host."""

    def begin(self, counts: Iterable[RuleState]) -> None:
        """Begin a task with new counts and no occurrences."""
        self._rules = [_Rule(it, self._sites) for it in counts if it.of_connections]
        self._past = CompressedList()

    def add(self, count: RuleState) -> None:
        """Add a one-shot, which counts as if it had existed since the task began."""
        rule = _Rule(count, self._sites)
        for target, moment in self._past:
            if rule.matches_request(target, llm=self._is_llm(target)) and moment.spared != "never":
                (count.count if moment.spared is None else count.count_unarmed)(target)
        self._rules.append(rule)

    def note_llm(self, url: str) -> None:
        """Note a model's URL; no rule is about it unless it names the host."""
        url = normalise(url)
        host, place = host_of(url), url.partition("://")[2].partition("/")[0]
        port = place.rpartition(":")[2]
        default = 80 if url.startswith("http:") else 443
        self._llm_places.add((host, int(port) if port.isdigit() else default))

    def judge(
        self, target: ConnectionTarget, moment: TrialState, met: bool | None = None
    ) -> Decision:
        """Count a try and return what happens to it.

        ``met``: whether the kernel has blocked the connection; None if it is not decided yet. One
        that was let through can no longer be hit: if it should have been, it came before the block
        and is not counted. A blocked one is always hit, even if another try came after the
        look-ahead; if an occurrence has just ended, its block was removed late, and the try belongs
        to it.
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
        """Whether a target is one of the task's sites; any is if none are known."""
        return any(origins.matches(target) for origins in self._site_origins)

    def gate(self, target: ConnectionTarget, moment: TrialState) -> TryOutcome | None:
        """Return what happens to the next connection to a target; None if it is let through.

        A target without a port stands for every port not in ``ports_with_own_block``.
        """
        if target.host in self._own_hosts or self._is_spared(target):
            return None
        for rule in self._about(target):
            if self._look(rule, target, moment).hit:
                return rule.gate
        return None

    def ports_with_own_block(self, host: str) -> tuple[int, ...]:
        """Return the ports of a host for which ``gate`` may return a result of their own.

        Besides the ports that rules name, these are tried ports, which have counts of their own,
        and (except on loopback) the web's, since draws depend on the port.
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
        """Whether a rule, of those named or of all, is about a target."""
        if target.host in self._own_hosts or self._is_spared(target):
            return False
        about = self._about(target)
        return any(rules is None or rule.count.rule.name in rules for rule in about)

    def active_rules(
        self, moment: TrialState, *, before_page: bool = False
    ) -> tuple[frozenset[str], float | None]:
        """Return the rules that count now, and the second at which the next window opens.

        ``before_page``: the first page has not been requested, but rules about the sites count.
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
        """Return the rules with a current occurrence that was skipped while unarmed."""
        return tuple(
            rule.count.rule.name
            for rule in self._rules
            if any(held.spared is not None for _, held in rule.alive(now))
        )

    def url_of(self, target: ConnectionTarget) -> str:
        """Return the target's URL in the ledger; an unusual port has the scheme of its site."""
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
                # A superseded injection begins no occurrence, and a replay does not have it.
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
        """Count a try for a rule; return the injection if it is hit."""
        count = rule.count
        if look.what == "repeat" and look.held is not None:
            if look.hit and look.held.injection is not None:
                return self._planner.plan_repeat(look.held.injection, exchange.id), count.memory
            if forced:
                return self._planner.plan(count, exchange, look.held.scope, look.held.ordinal)
            return None
        if look.what == "spared":
            self._skip(rule, exchange, target, moment)
        if look.what != "new" and not forced:
            return None
        scope, ordinal = count.count(target)
        if not rule.always:
            held = _Held(moment.now + rule.hold, exchange.id, scope, ordinal)
            rule.begin_occurrence(target, held)
        hit = look.hit or forced
        return self._planner.plan(count, exchange, scope, ordinal) if hit else None

    def _skip(
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
        """Return how a rule sees a try, without a change of state."""
        held = rule.held(target, moment.now)
        armed_since = held is not None and held.spared is not None and moment.spared is None
        if held is not None and not armed_since:
            # A try that begins to fail too late would succeed after all.
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
        """Whether exclusions cover all URLs of the site."""
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
    """Return the look at a try that the kernel blocked for an occurrence that had just ended."""
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


def _held(rule: _Rule, injection: PlannedInjection, now: float) -> _Held:
    until = now + rule.hold + rule.lasts
    return _Held(until, injection.exchange, injection.scope, injection.ordinal, injection)
