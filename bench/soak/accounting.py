"""Check that a ledger adds up and agrees with the records of clients and site. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.soak.clients import ClientLog, RequestOutcome
from bench.soak.jobs import PROBABILITIES
from warex.traces import (
    Entry,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    Repeated,
    RequestSeen,
    ResponseSeen,
    TlsRejected,
    TrialEnded,
    Tunnel,
    WebSocketSeen,
)

LEVEL = 0.001
"""Significance level for all random rules together, divided among them (Bonferroni)."""
_MAX_SHOWN = 5
_UNSEEN = ("left_at_once", "lost")
"""Outcomes of requests that may never have come to the lane."""


@dataclass(slots=True)
class Exchange:
    """An exchange in the trace."""

    path: str
    endings: list[ResponseSeen] = field(default_factory=list)
    planned: list[FaultPlanned] = field(default_factory=list)
    delivered: int = 0
    missed: int = 0


@dataclass(slots=True)
class Ledger:
    """The counts of a trace."""

    exchanges: dict[str, Exchange] = field(default_factory=dict)
    planned: Counter[str] = field(default_factory=Counter)
    """Injections by rule."""
    injections: Counter[str] = field(default_factory=Counter)
    """How often each injection was planned."""
    ended: Counter[str] = field(default_factory=Counter)
    """How often each injection was delivered or missed."""
    delivered: int = 0
    missed: int = 0
    occurrences: dict[str, str] = field(default_factory=dict)
    """Of each injection, the first injection of its occurrence."""
    delivered_occurrences: set[str] = field(default_factory=set)
    """Occurrences with a delivered injection."""
    missed_occurrences: set[str] = field(default_factory=set)
    """Occurrences with a missed injection."""
    messages: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    """Messages of each WebSocket exchange, by whether the client sent them."""
    given_up: int = 0
    """Requests that were only counted, as their clients had given them up at once."""
    end: TrialEnded | None = None
    mistakes: list[str] = field(default_factory=list)


def read_ledger(entries: Iterable[Entry]) -> Ledger:
    """Read a trace."""
    ledger = Ledger()
    for entry in entries:
        match entry.event:
            case RequestSeen() as seen:
                if seen.exchange in ledger.exchanges:
                    ledger.mistakes.append(f"exchange {seen.exchange} begins twice")
                ledger.exchanges[seen.exchange] = Exchange(urlsplit(seen.url).path)
            case ResponseSeen() as seen:
                _of(ledger, seen.exchange).endings.append(seen)
            case FaultPlanned() as plan:
                ledger.planned[plan.rule] += 1
                ledger.injections[plan.injection] += 1
                ledger.occurrences[plan.injection] = plan.repeat_of or plan.injection
                _of(ledger, plan.exchange).planned.append(plan)
            case FaultDelivered() as done:
                ledger.ended[done.injection] += 1
                ledger.delivered += 1
                ledger.delivered_occurrences.add(
                    ledger.occurrences.get(done.injection, done.injection)
                )
                _of(ledger, done.exchange).delivered += 1
            case FaultMissed(injection=str(injection)) as lost:
                ledger.ended[injection] += 1
                ledger.missed += 1
                ledger.missed_occurrences.add(ledger.occurrences.get(lost.injection or "", ""))
                _of(ledger, lost.exchange or "").missed += 1
            case WebSocketSeen(what="message") as message:
                ledger.messages[message.exchange][message.from_client] += 1
            case HarnessBroke(reason=reason):
                ledger.mistakes.append(f"the trial is void: {reason}")
            case TlsRejected(host=host, reason=reason):
                ledger.mistakes.append(f"{host} was passed through unread: {reason}")
            case Tunnel(host=host, why=why):
                ledger.mistakes.append(f"a connection to {host} was passed through unread: {why}")
            case Repeated(kind="request", times=times):
                ledger.given_up += times
            case TrialEnded() as end:
                ledger.end = end
            case _:
                pass
    return ledger


def _of(ledger: Ledger, exchange: str) -> Exchange:
    if exchange not in ledger.exchanges:
        ledger.mistakes.append(f"exchange {exchange} has no request")
        ledger.exchanges[exchange] = Exchange("")
    return ledger.exchanges[exchange]


def mistakes(
    ledger: Ledger, log: ClientLog, seen: Mapping[str, int], messages: Mapping[str, int]
) -> Iterator[str]:
    """Yield a sentence for each disagreement.

    ``seen``: the site's requests by path; ``messages``: the messages that it received on each
    WebSocket.
    """
    yield from ledger.mistakes
    yield from log.mistakes
    yield from _check_totals(ledger)
    by_path: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in ledger.exchanges.values():
        by_path[exchange.path].append(exchange)
    for path, outcomes in log.outcomes.items():
        for mistake in _check_path(
            path, outcomes, by_path.get(path, []), seen.get(path, 0), ledger.given_up
        ):
            reasons = "; ".join(dict.fromkeys(log.reasons.get(path, [])))
            yield f"{mistake}; no answer: {reasons}" if reasons else mistake
    missing = sum(
        max(0, sum(it not in _UNSEEN for it in outcomes) - len(by_path.get(path, [])))
        for path, outcomes in log.outcomes.items()
    )
    if missing > ledger.given_up > 0:
        yield f"{missing} requests are not in the trace, which counts {ledger.given_up} of them"
    for path in by_path.keys() - log.outcomes.keys() - log.sent.keys():
        yield f"{path}: it is in the trace, but no client requested it"
    for path in seen.keys() - log.outcomes.keys() - log.sent.keys():
        yield f"{path}: the site was asked for it, but no client requested it"
    counted = {
        ledger.exchanges[number].path: both
        for number, both in ledger.messages.items()
        if number in ledger.exchanges
    }
    for path, number in log.sent.items():
        recorded = counted.get(path, Counter[bool]())
        if not recorded[True] == recorded[False] == messages.get(path, 0) == number:
            yield (
                f"{path}: its client sent {number} messages and got as many, the site had"
                f" {messages.get(path, 0)}, the trace has {recorded[True]} and {recorded[False]}"
            )


def _check_totals(ledger: Ledger) -> Iterator[str]:
    if ledger.injections != ledger.ended:
        wrong = [
            name
            for name in ledger.injections | ledger.ended
            if not ledger.injections[name] == ledger.ended[name] == 1
        ]
        yield f"{len(wrong)} injections have not exactly one ending: {_excerpt(wrong)}"
    if (planned := ledger.injections.total()) != ledger.delivered + ledger.missed:
        yield f"planned {planned} ≠ delivered {ledger.delivered} + missed {ledger.missed}"
    unended = [
        f"{name} {it.path} ({len(it.endings)})"
        for name, it in ledger.exchanges.items()
        if len(it.endings) != 1
    ]
    if unended:
        yield f"{len(unended)} exchanges have not exactly one ending: {_excerpt(unended)}"
    if ledger.end is None:
        yield "the trial has no end"
    elif (stated := (ledger.end.exchanges, ledger.end.delivered, ledger.end.missed)) != (
        counted := (
            len(ledger.exchanges),
            len(ledger.delivered_occurrences),
            len(ledger.missed_occurrences - ledger.delivered_occurrences),
        )
    ):
        yield f"exchanges, delivered and missed are {counted}, but the trial's end says {stated}"


def _excerpt(names: Sequence[str]) -> str:
    return ", ".join(names[:_MAX_SHOWN]) + (" …" if len(names) > _MAX_SHOWN else "")


def _check_path(
    path: str,
    outcomes: Sequence[RequestOutcome],
    exchanges: Sequence[Exchange],
    seen: int,
    counted: int,
) -> Iterator[str]:
    """Compare the clients' outcomes of a path with its exchanges, and both with the site.

    Only numbers are compared where requests share a path; a client that gave up may have missed any
    answer. ``counted``: how many that were given up at once the trace has as a number only.
    """
    counts = Counter(outcomes)
    given_up = counts["left"] + counts["left_unread"] + counts["left_at_once"] + counts["lost"]
    may_be_counted = min(counts["left_unread"] + counts["left"], counted)
    unrecorded = counts["left_at_once"] + counts["lost"] + may_be_counted
    if not len(outcomes) - unrecorded <= len(exchanges) <= len(outcomes):
        yield (
            f"{path}: asked {len(outcomes)} times, in the trace {len(exchanges)} times"
            f" ({dict(counts)})"
        )
        return
    ended = [it for it in exchanges if len(it.endings) == 1]
    site = sum(it.endings[0].by == "site" and it.endings[0].error is None for it in ended)
    ours = sum(_is_injected_answer(it.endings[0]) and it.delivered > 0 for it in ended)
    for what, clients, trace in (
        ("the site's answers", counts["site"], site),
        ("injected answers", counts["other"], ours),
    ):
        if not clients <= trace <= clients + given_up:
            yield f"{path}: of {what} clients got {clients}, the trace has {trace} ({dict(counts)})"
    before = sum(any(plan.stage == "request" for plan in it.planned) for it in exchanges)
    if (
        not len(exchanges) - before - given_up
        <= seen
        <= len(exchanges) - _answered_before_the_site(exchanges)
    ):
        yield f"{path}: the site was asked {seen} times, by the trace {len(exchanges) - before}"
    delivered = sum(it.delivered for it in exchanges)
    if delivered > len(outcomes) - counts["left_unread"]:
        yield f"{path}: delivered to a client that cancelled before the first byte of the body"


def _is_injected_answer(ending: ResponseSeen) -> bool:
    return ending.by == "warex" and ending.status is not None


def _answered_before_the_site(exchanges: Iterable[Exchange]) -> int:
    """Return how many requests never reached the site, since a fault answered them."""
    return sum(
        it.delivered > 0 and any(plan.stage == "request" for plan in it.planned) for it in exchanges
    )


@dataclass(frozen=True, slots=True)
class FiringRate:
    """How often a random rule fired, compared with its probability."""

    rule: str
    probability: float
    matched: int
    fired: int

    @property
    def p(self) -> float:
        """Two-sided p of the exact binomial test; 1 where nothing matched."""
        if not self.matched:
            return 1.0
        # Imported here, since it takes two seconds, also when tests are only collected.
        from scipy.stats import binomtest

        return float(binomtest(self.fired, self.matched, self.probability).pvalue)

    @property
    def ok(self) -> bool:
        """Whether p is at least this rule's share of the level."""
        return self.p >= LEVEL / len(PROBABILITIES)


def firing_rates(ledger: Ledger) -> list[FiringRate]:
    """Return how often each random rule matched and fired."""
    matched = Counter(exchange.path.split("/")[1] for exchange in ledger.exchanges.values())
    return [
        FiringRate(rule, probability, matched[rule], ledger.planned[rule])
        for rule, probability in PROBABILITIES.items()
    ]
