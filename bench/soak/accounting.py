"""Whether a ledger adds up, and agrees with what clients and site saw. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bench.soak.clients import Book, Fate
from bench.soak.jobs import PROBABILITIES
from warex.traces import (
    Entry,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    RequestSeen,
    ResponseSeen,
    TlsRejected,
    TrialEnded,
    Tunnel,
    WebSocketSeen,
)

LEVEL = 0.001
"""Of all random rules together; each gets its share (Bonferroni)."""
_SHOWN = 5


@dataclass(slots=True)
class Exchange:
    """An exchange as the trace has it."""

    path: str
    endings: list[ResponseSeen] = field(default_factory=list)
    planned: list[FaultPlanned] = field(default_factory=list)
    delivered: int = 0
    missed: int = 0


@dataclass(slots=True)
class Ledger:
    """What a trace says, added up."""

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
    """Of each injection that repeats another, the one that it repeats."""
    met: set[str] = field(default_factory=set)
    """The occurrences of which an injection was delivered."""
    lost: set[str] = field(default_factory=set)
    """Those of which one was missed."""
    messages: dict[str, Counter[bool]] = field(default_factory=lambda: defaultdict(Counter))
    """Of each exchange that is a WebSocket: from the client or not."""
    end: TrialEnded | None = None
    mistakes: list[str] = field(default_factory=list)


def added_up(entries: Iterable[Entry]) -> Ledger:
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
                ledger.met.add(ledger.occurrences.get(done.injection, done.injection))
                _of(ledger, done.exchange).delivered += 1
            case FaultMissed(injection=str(injection)) as lost:
                ledger.ended[injection] += 1
                ledger.missed += 1
                ledger.lost.add(ledger.occurrences.get(lost.injection or "", ""))
                _of(ledger, lost.exchange or "").missed += 1
            case WebSocketSeen(what="message") as message:
                ledger.messages[message.exchange][message.from_client] += 1
            case HarnessBroke(reason=reason):
                ledger.mistakes.append(f"the trial is void: {reason}")
            case TlsRejected(host=host) | Tunnel(host=host):
                ledger.mistakes.append(f"{host} was passed through unread")
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
    ledger: Ledger, book: Book, seen: Mapping[str, int], messages: Mapping[str, int]
) -> Iterator[str]:
    """Yield a sentence for each thing that does not agree; nothing of a clean soak.

    ``seen`` and ``messages``: how often the site was asked for each path, and what came on each of
    its WebSockets.
    """
    yield from ledger.mistakes
    yield from book.mistakes
    yield from _sums(ledger)
    by_path: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in ledger.exchanges.values():
        by_path[exchange.path].append(exchange)
    for path, fates in book.fates.items():
        for said in _agreement(path, fates, by_path.get(path, []), seen.get(path, 0)):
            reasons = "; ".join(dict.fromkeys(book.reasons.get(path, [])))
            yield f"{said}; no answer: {reasons}" if reasons else said
    for path in by_path.keys() - book.fates.keys() - book.sent.keys():
        yield f"{path}: it stands in the trace, and no client asked for it"
    for path in seen.keys() - book.fates.keys() - book.sent.keys():
        yield f"{path}: the site was asked for it, and no client did"
    counted = {
        ledger.exchanges[number].path: both
        for number, both in ledger.messages.items()
        if number in ledger.exchanges
    }
    for path, number in book.sent.items():
        found = counted.get(path, Counter[bool]())
        if not found[True] == found[False] == messages.get(path, 0) == number:
            yield (
                f"{path}: its client sent {number} messages and got as many, the site had"
                f" {messages.get(path, 0)}, the trace has {found[True]} and {found[False]}"
            )


def _sums(ledger: Ledger) -> Iterator[str]:
    if ledger.injections != ledger.ended:
        wrong = [
            name
            for name in ledger.injections | ledger.ended
            if not ledger.injections[name] == ledger.ended[name] == 1
        ]
        yield f"{len(wrong)} injections have not exactly one ending: {_some(wrong)}"
    if (planned := ledger.injections.total()) != ledger.delivered + ledger.missed:
        yield f"planned {planned} ≠ delivered {ledger.delivered} + missed {ledger.missed}"
    unended = [
        f"{name} {it.path} ({len(it.endings)})"
        for name, it in ledger.exchanges.items()
        if len(it.endings) != 1
    ]
    if unended:
        yield f"{len(unended)} exchanges have not exactly one ending: {_some(unended)}"
    if ledger.end is None:
        yield "the trial has no end"
    elif (said := (ledger.end.exchanges, ledger.end.delivered, ledger.end.missed)) != (
        found := (len(ledger.exchanges), len(ledger.met), len(ledger.lost - ledger.met))
    ):
        yield f"exchanges, delivered and missed are {found}, but the trial's end says {said}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


def _agreement(
    path: str, fates: Sequence[Fate], found: Sequence[Exchange], seen: int
) -> Iterator[str]:
    """Compare what clients saw of a path with its exchanges, and both with the site.

    Where many share a path, numbers are compared; a client that gave up may have missed anything.
    """
    told = Counter(fates)
    given_up = told["left"] + told["left_unread"] + told["left_at_once"] + told["lost"]
    if not len(fates) - told["left_at_once"] - told["lost"] <= len(found) <= len(fates):
        yield f"{path}: asked {len(fates)} times, in the trace {len(found)} times ({dict(told)})"
        return
    ended = [it for it in found if len(it.endings) == 1]
    site = sum(it.endings[0].by == "site" and it.endings[0].error is None for it in ended)
    ours = sum(_is_injected_answer(it.endings[0]) and it.delivered > 0 for it in ended)
    for what, clients, trace in (
        ("the site's answers", told["site"], site),
        ("injected answers", told["other"], ours),
    ):
        if not clients <= trace <= clients + given_up:
            yield f"{path}: of {what} clients got {clients}, the trace has {trace} ({dict(told)})"
    before = sum(any(plan.stage == "request" for plan in it.planned) for it in found)
    if not len(found) - before - given_up <= seen <= len(found) - _unasked(found):
        yield f"{path}: the site was asked {seen} times, by the trace {len(found) - before}"
    delivered = sum(it.delivered for it in found)
    if delivered > len(fates) - told["left_unread"]:
        yield f"{path}: delivered to a client that had seen no byte of the body and cancelled"


def _is_injected_answer(ending: ResponseSeen) -> bool:
    return ending.by == "warex" and ending.status is not None


def _unasked(found: Iterable[Exchange]) -> int:
    """Return how many requests the site never heard of, since an answer was injected before."""
    return sum(
        it.delivered > 0 and any(plan.stage == "request" for plan in it.planned) for it in found
    )


@dataclass(frozen=True, slots=True)
class Chance:
    """How often a random rule fired, beside what chance allows."""

    rule: str
    probability: float
    matched: int
    fired: int

    @property
    def p(self) -> float:
        """Two-sided p of the exact binomial test; 1 where nothing matched."""
        if not self.matched:
            return 1.0
        # Two seconds, which whoever collects the tests need not wait.
        from scipy.stats import binomtest

        return float(binomtest(self.fired, self.matched, self.probability).pvalue)

    @property
    def ok(self) -> bool:
        """Whether it is within what chance allows at this rule's share of the level."""
        return self.p >= LEVEL / len(PROBABILITIES)


def chances(ledger: Ledger) -> list[Chance]:
    """Return for each random rule how often it matched and fired."""
    matched = Counter(exchange.path.split("/")[1] for exchange in ledger.exchanges.values())
    return [
        Chance(rule, probability, matched[rule], ledger.planned[rule])
        for rule, probability in PROBABILITIES.items()
    ]
