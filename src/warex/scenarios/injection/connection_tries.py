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

``next_outcome`` looks ahead: the kernel refuses a connection before the proxy sees it, so the proxy
must know in advance what happens to the next try.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from warex.exchange import Exchange, Request
from warex.faults import ConnectionFault, FaultState
from warex.llm.recognition.hosts import host_matches, is_known_llm_host
from warex.scenarios.injection.arming import Arming
from warex.scenarios.injection.planner import (
    NO_INJECTION,
    Decision,
    PlannedInjection,
    Planner,
    collide,
)
from warex.scenarios.injection.rule_state import RuleState, SkipReason
from warex.scenarios.matching.url_patterns import host_of, names_host, normalise
from warex.scenarios.origins import (
    ConnectionTarget,
    OriginPattern,
    is_loopback,
    matches_any,
    origins_of_sites,
)
from warex.text.latest import Latest
from warex.traffic import BACKGROUND_HOSTS, SHARED_HOSTS

type TryOutcome = Literal["refuse", "drop"]
"""What the kernel does to a blocked connection."""

_REMEMBERED: Final = 10_000
"""Targets that are remembered for what may come later; a client can name any number."""
_UNBLOCKED_WITHIN: Final = 0.25
"""Seconds by which the kernel's block may be removed too late."""
_PROBE: Final = "warex-probe"
"""A path that no pattern names; a pattern that matches it matches the whole site."""
_ANY: Final = ("http", "https")
_SCHEMES: Final[Mapping[int, tuple[str, ...]]] = {80: ("http",), 443: ("https",)}


class TrialState(NamedTuple):
    """The state of the trial when a try is judged: its second, and its steps."""

    now: float
    steps: int
    skipped: SkipReason | None = None
    """Why the try is skipped; None while armed."""


class _Try(NamedTuple):
    target: ConnectionTarget
    state: TrialState
    exchange: Exchange


class _Occurrence(Struct, frozen=True):
    """An occurrence: its first try, and the decision for it."""

    until: float
    exchange: str
    place: tuple[str, int]
    """Scope and ordinal."""
    injection: PlannedInjection | None = None
    skipped: SkipReason | None = None


class _View(Struct, frozen=True):
    """How a rule sees a try."""

    hit: bool = False
    is_new: bool = False
    """Whether it is counted as a new occurrence."""
    occurrence: _Occurrence | None = None
    """The occurrence that it repeats."""


class _Rule:
    """One rule about connection tries: its count, and its occurrences."""

    def __init__(self, count: RuleState, sites: tuple[str, ...]) -> None:
        fault, match = count.rule.fault, count.rule.match
        assert isinstance(fault, ConnectionFault)
        self.count, self.fault, self._match = count, fault, match
        self.name = count.rule.name
        self.always = count.rule.trigger.always is True
        self.outcome: TryOutcome | None = fault.effect().traits.kernel
        origin = match.origin
        self.origins: tuple[OriginPattern, ...] = (
            origins_of_sites(sites) if origin is None else (origin,)
        )
        self._fits = matches_any(self.origins)
        self.of_sites = not sites or origin is None
        """Whether it is about the task's sites only; all are task sites if none are known."""
        self.occurrences: dict[ConnectionTarget, _Occurrence] = {}
        """The latest at each target; those that are over may be missing."""
        self._forget_at = _REMEMBERED
        """How many occurrences there are when those that are over are forgotten."""

    def matches(self, target: ConnectionTarget) -> bool:
        """Whether the rule's fault and match fit a target."""
        return target.point == self.fault.point and self._fits(target)

    def names(self, host: str) -> bool:
        """Whether the rule's match spells a host out."""
        return names_host(self._match, host)

    def begin(
        self,
        tried: _Try,
        place: tuple[str, int],
        injection: PlannedInjection | None = None,
        skipped: SkipReason | None = None,
    ) -> None:
        """Begin an occurrence; a rule that is always triggered has none between its hits."""
        if self.always and injection is None:
            return
        until = tried.state.now + self.fault.hold
        if injection is not None:
            until += self.fault.gives_up_after_s
        occurrence = _Occurrence(until, tried.exchange.id, place, injection, skipped)
        self.occurrences[tried.target] = occurrence
        if len(self.occurrences) > self._forget_at:
            since = tried.state.now - _UNBLOCKED_WITHIN
            current = {target: it for target, it in self.occurrences.items() if it.until > since}
            self.occurrences, self._forget_at = current, max(_REMEMBERED, 2 * len(current))

    @property
    def blocks(self) -> bool:
        """Whether the kernel blocks a connection that is hit."""
        return self.outcome is not None

    def unblocked_late(self, target: ConnectionTarget, state: TrialState) -> _View | None:
        """Return the view of a try that the kernel blocked for an occurrence that has just ended.

        None if there is no such occurrence.
        """
        if not self.blocks:
            return None
        ended = self.occurrences.get(target)
        if ended is None or ended.injection is None or state.skipped is not None:
            return None
        late = ended.until <= state.now < ended.until + _UNBLOCKED_WITHIN
        return _View(True, occurrence=ended) if late else None


class _TriedPorts:
    """The ports of the latest hosts to which connections were tried."""

    def __init__(self) -> None:
        self._of_hosts: dict[str, set[int]] = {}
        self._number = 0

    def add(self, host: str, port: int) -> None:
        """Note a try; the hosts that were tried longest ago are forgotten."""
        ports = self._of_hosts[host] = self._of_hosts.pop(host, set())
        if port in ports:
            return
        ports.add(port)
        self._number += 1
        while self._number > _REMEMBERED:
            self._number -= len(self._of_hosts.pop(next(iter(self._of_hosts))))

    def of(self, host: str) -> Iterable[int]:
        """Return the ports of a host."""
        return self._of_hosts.get(host, ())


class ConnectionTryRules:
    """Judges connection tries, for one trial.

    ``own_hosts`` are WAREX's own and never judged; ``llm_hosts`` are hosts of models beyond the
    well-known ones, also as `*.example`.
    """

    def __init__(
        self,
        planner: Planner,
        arming: Arming,
        is_never: Callable[[str], bool],
        *,
        sites: tuple[str, ...] = (),
        own_hosts: Container[str] = (),
        llm_hosts: tuple[str, ...] = (),
    ) -> None:
        self._planner = planner
        self._arming = arming
        self._is_never = is_never
        self._sites = sites
        self._site_origins = origins_of_sites(sites)
        self._own_hosts = own_hosts
        self._llm_hosts = llm_hosts
        self._llm_places: set[tuple[str, int]] = set()
        self._is_excluded = lru_cache(maxsize=1024)(self._excludes)
        self._number = 0
        self._rules: list[_Rule] = []
        self._armed_tries = Latest[ConnectionTarget, int](_REMEMBERED)
        self._unarmed_tries = Latest[ConnectionTarget, int](_REMEMBERED)
        """How often a target was tried, for a one-shot to come."""
        self._tried = _TriedPorts()

    @property
    def has_rules(self) -> bool:
        """Whether any rule is about connection tries."""
        return bool(self._rules)

    def begin(self, counts: Iterable[RuleState]) -> None:
        """Begin a task with new counts and no occurrences."""
        self._rules = [_Rule(it, self._sites) for it in counts if it.of_connections]
        self._armed_tries.clear()
        self._unarmed_tries.clear()

    def add(self, count: RuleState) -> None:
        """Add a one-shot, and note in its count what it would have counted before."""
        rule = _Rule(count, self._sites)
        self._rules.append(rule)
        for target, number in self._armed_tries.items():
            if rule in self._rules_about(target):
                count.earlier[target.scope] = number
        for target, number in self._unarmed_tries.items():
            if rule in self._rules_about(target):
                count.count_unarmed(target, number)

    def note_llm(self, url: str) -> None:
        """Note a model's URL; no rule is about it unless it names the host."""
        url = normalise(url)
        host, place = host_of(url), url.partition("://")[2].partition("/")[0]
        port = place.rpartition(":")[2]
        default = 80 if url.startswith("http:") else 443
        self._llm_places.add((host, int(port) if port.isdigit() else default))

    def judge(self, target: ConnectionTarget, now: float, *, met: bool | None = None) -> Decision:
        """Count a try and return what happens to it.

        ``met``: whether the kernel has blocked the connection; None if it is not decided yet. One
        that was let through can no longer be blocked: if it should have been, it came before the
        block and is not counted. A blocked one is always hit, even if another try came after the
        look-ahead; if an occurrence has just ended, its block was removed late, and the try belongs
        to it.
        """
        if target.host in self._own_hosts:
            return NO_INJECTION
        self._number += 1
        state = self._state(target, now)
        if self._is_excluded(target):
            state = state._replace(skipped="never")
        if state.skipped != "never":
            tries = self._armed_tries if state.skipped is None else self._unarmed_tries
            tries[target] = tries.get(target, 0) + 1
        if target.point == "connect" and target.port is not None:
            self._tried.add(target.host, target.port)
        if not self._rules:
            return NO_INJECTION
        exchange = Exchange(f"a{self._number}", Request("CONNECT", self.url_of(target)))
        views = {rule: self._view(rule, target, state) for rule in self._rules_about(target)}
        if met is not None:
            # What is blocked is hit by rules that block, and what was let through by others.
            views = {
                rule: view for rule, view in views.items() if not view.hit or rule.blocks == met
            }
        if met and not any(view.hit for view in views.values()):
            views = {rule: rule.unblocked_late(target, state) or it for rule, it in views.items()}
        must_hit = met and not any(view.hit for view in views.values())
        forced = next(filter(lambda rule: rule.blocks, views), None) if must_hit else None
        return self._decide(_Try(target, state, exchange), views, forced)

    def is_site(self, target: ConnectionTarget) -> bool:
        """Whether a target is one of the task's sites; any is if none are known."""
        return any(origins.matches(target) for origins in self._site_origins)

    def next_outcome(self, target: ConnectionTarget, now: float) -> TryOutcome | None:
        """Return what happens to the next connection to a target, without counting it.

        None: it is let through. A target without a port stands for every port not in
        ``ports_with_own_block``. The result can change with every try, step, arming and second.
        """
        state = self._state(target, now)
        blocking = (it for it in self._judged(target) if it.blocks)
        return next((it.outcome for it in blocking if self._view(it, target, state).hit), None)

    def next_change(self, now: float) -> float | None:
        """Return the next second at which time alone may change a ``next_outcome``.

        That is where a window begins or ends, or an occurrence or its retries end.
        """
        seconds: list[float] = []
        for rule in filter(lambda rule: rule.blocks, self._rules):
            seconds += rule.count.rule.trigger.between or ()
            for it in rule.occurrences.values():
                seconds += (it.until - rule.fault.retries_for_s, it.until)
        return min((second for second in seconds if second > now), default=None)

    def ports_with_own_block(self, host: str) -> tuple[int, ...]:
        """Return the ports of a host with a ``next_outcome`` of their own.

        Beyond the ports that rules name, these are tried ports, which have counts of their own,
        and (except on loopback) the web's, since draws depend on the port.
        """
        host = ConnectionTarget.of("connect", host, None).host
        ports = {port for name, port in self._llm_places if name == host}
        for rule in self._rules:
            if rule.fault.point != "connect":
                continue
            named = {it.port for it in rule.origins if it.names_host(host)}
            ports.update(filter(None, named))
            if None in named:
                ports.update(self._tried.of(host), () if is_loopback(host) else _SCHEMES)
        return tuple(sorted(ports))

    def concerns(self, target: ConnectionTarget, rules: Container[str] | None = None) -> bool:
        """Whether a rule, of those named or of all, is about a target."""
        return any(rules is None or rule.name in rules for rule in self._judged(target))

    def active_rules(self, now: float) -> tuple[frozenset[str], float | None]:
        """Return the rules that count now, and the second at which the next window opens.

        Before the first page is requested, rules about the sites count.
        """
        arming = self._arming
        active: set[str] = set()
        opens: list[float] = []
        for rule in self._rules:
            window = rule.count.rule.trigger.between
            if window is not None and window[0] > now:
                opens.append(window[0])
            counts = arming.armed or (arming.awaits_page and rule.of_sites)
            if counts and not rule.count.outside_window(now, arming.steps):
                active.add(rule.name)
        return frozenset(active), min(opens, default=None)

    def rules_with_unarmed_occurrence(self, now: float) -> tuple[str, ...]:
        """Return the rules with a current occurrence that was skipped while unarmed.

        If a call arms them now, a replay, which is always armed, cannot separate later tries from
        that occurrence.
        """
        return tuple(
            rule.name
            for rule in self._rules
            if any(it.skipped is not None and now < it.until for it in rule.occurrences.values())
        )

    def url_of(self, target: ConnectionTarget) -> str:
        """Return the target's URL in the ledger; an unusual port has the scheme of its site."""
        for origins in self._site_origins:
            if len(origins.schemes) == 1 and origins.port is not None and origins.matches(target):
                [scheme] = origins.schemes
                return target.url_with(scheme)
        return target.url

    def _state(self, target: ConnectionTarget, now: float) -> TrialState:
        """Return the state of the trial for tries at a target.

        Before the first page, tries at a task site count, since they lead to that page.
        """
        arming = self._arming
        counts = arming.armed or (arming.awaits_page and self.is_site(target))
        return TrialState(now, arming.steps, None if counts else arming.unarmed)

    def _decide(self, tried: _Try, views: Mapping[_Rule, _View], forced: _Rule | None) -> Decision:
        injections: list[PlannedInjection] = []
        superseded: list[PlannedInjection] = []
        repeat_of: str | None = None
        for rule, view in views.items():
            planned = self._count(rule, view, tried, forced is rule)
            if planned is None:
                continue
            injection, fault_state = planned
            if view.occurrence is not None and injection.repeat_of is not None:
                repeat_of = repeat_of or view.occurrence.exchange
            if any(collide(earlier, injection) for earlier in injections):
                # A superseded injection begins no occurrence, and a replay does not have it.
                superseded.append(injection)
                continue
            if injection.repeat_of is None:
                injection = self._planner.commit(rule.count, injection, fault_state)
                if view.hit:
                    rule.begin(tried, (injection.scope, injection.ordinal), injection)
            injections.append(injection)
        return Decision(tuple(injections), tuple(superseded), repeat_of)

    def _count(
        self, rule: _Rule, view: _View, tried: _Try, forced: bool
    ) -> tuple[PlannedInjection, FaultState] | None:
        """Count a try for a rule; return the injection if it is hit."""
        count, exchange, current = rule.count, tried.exchange, view.occurrence
        if current is not None:
            if view.hit and current.injection is not None:
                return self._planner.plan_repeat(current.injection, exchange.id), count.fault_state
            return self._planner.plan(count, exchange, *current.place) if forced else None
        state = tried.state
        if state.skipped is not None:
            place = count.skip(tried.target, state.skipped, state.now, state.steps)
            if place is not None:
                rule.begin(tried, place, skipped=state.skipped)
        if not view.is_new and not forced:
            return None
        place = count.count(tried.target)
        rule.begin(tried, place)
        return self._planner.plan(count, exchange, *place) if view.hit or forced else None

    def _view(self, rule: _Rule, target: ConnectionTarget, state: TrialState) -> _View:
        """Return how a rule sees a try, without a change of state."""
        current = rule.occurrences.get(target)
        armed = state.skipped is None
        if current is not None and state.now < current.until and not (current.skipped and armed):
            # A try that begins to fail too late would succeed after all, unless it is hit again.
            lasts = state.now < current.until - rule.fault.retries_for_s or self._is_always_hit(
                rule, target, state._replace(now=current.until)
            )
            hit = current.injection is not None and armed and lasts
            return _View(hit, occurrence=current)
        if not armed or rule.count.outside_window(state.now, state.steps):
            return _View()
        return _View(self._planner.fires(rule.count, *rule.count.next(target)), is_new=True)

    def _is_always_hit(self, rule: _Rule, target: ConnectionTarget, state: TrialState) -> bool:
        """Whether a rule that is always triggered hits a new occurrence.

        A replay's schedule does not say so of an occurrence that no try began.
        """
        return (
            rule.always
            and not rule.count.outside_window(state.now, state.steps)
            and rule.count.fires(self._planner.seed, *rule.count.next(target))
        )

    def _rules_about(self, target: ConnectionTarget) -> list[_Rule]:
        """Return the rules about a target, also those that cannot hit it."""
        rules = [rule for rule in self._rules if rule.matches(target)]
        if rules and self._must_be_named(target):
            rules = [rule for rule in rules if rule.names(target.host)]
        return rules

    def _must_be_named(self, target: ConnectionTarget) -> bool:
        """Whether it is a model's host, or one that browsers use by themselves."""
        if self._is_llm(target):
            return True
        is_site = self._sites and any(it.names_host(target.host) for it in self._site_origins)
        return target.host in SHARED_HOSTS and not is_site

    def _judged(self, target: ConnectionTarget) -> list[_Rule]:
        """Return the rules that can hit a target."""
        skipped = target.host in self._own_hosts or self._is_excluded(target)
        return [] if skipped else self._rules_about(target)

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

    def _excludes(self, target: ConnectionTarget) -> bool:
        """Whether exclusions cover all URLs of the site, or it is a browser's own, on any port."""
        if target.host in BACKGROUND_HOSTS:
            return True
        schemes = ("https",) if target.point == "tls" else _SCHEMES.get(target.port or 0, _ANY)
        roots = [target.url_with(scheme) for scheme in schemes]
        return any(
            all(self._is_never(normalise(url)) for url in (root, root + _PROBE)) for root in roots
        )
