"""What an agent did after faults against the rules of the web, whether it recovered or not.

A **blind retry** asks once more for what an answer has called permanent (RFC 9110, section 15.5:
the request itself is at fault), or for what has failed alike twice. An **early retry** comes before
the time that an answer asks to wait (RFC 9110, section 10.2.3; RFC 6585, section 4). A **budget is
burnt on one page** as far as the steps and tokens after the first fault were spent there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from warex.analysis.recovery import connection_tries, equivalence
from warex.analysis.recovery.clients import by_program
from warex.analysis.recovery.trial_events import KEEPS_ANSWER
from warex.traces.events import (
    Disarmed,
    Entry,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    LlmRetried,
    RequestSeen,
    ResponseSeen,
)

_ASK_AGAIN: Final = frozenset((408, 409, 421, 425, 429))
"""The client errors after which the same request may succeed: a timeout, a conflict, the wrong
connection, too early, too many (RFC 9110, 8470, 6585)."""
_NEVER_HERE: Final = frozenset((501, 505))
"""The server does not support the method, or the version of HTTP (RFC 9110, section 15.6)."""
_TOO_MANY: Final = 429
_DEFAULT_WAIT_S: Final = 1.0
"""Seconds to wait after a 429 that names no time: less is not a back-off."""
_NEARLY: Final = 0.95
"""Share of the announced time from which a client has waited: its clock begins with the answer."""
_ALIKE: Final = 2
"""Failures alike after which one more is expected."""


@dataclass(frozen=True, slots=True)
class OnePage:
    """The page on which most steps were spent after the first fault, or in a trial without one."""

    url: str
    steps: float
    """Their share of all steps since then, 0 to 1."""
    tokens: float | None
    """The share of the tokens of those steps; None if they are unknown."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """What the agent did after faults, each with its lines of the trace."""

    retries: tuple[int, ...] = ()
    """``seq`` of each request that asks once more for what a fault had hit."""
    blind: tuple[int, ...] = ()
    """Those of them that were blind."""
    early: tuple[int, ...] = ()
    """``seq`` of each request before an announced time was over."""
    one_page: OnePage | None = None
    """None without a step that could be attributed to a page."""


NO_STRATEGY: Final = Strategy()
"""Of a trial without faults, or without known calls."""


@dataclass(slots=True, eq=False)
class _Ask:
    """One request of the agent: for a page, by a program, a write or to the model.

    Or a failed connection try, of which only the host is known.
    """

    number: int
    """Among the trial's, from 0."""
    seq: int
    t: float
    request: RequestSeen
    is_model: bool
    step: int = 0
    plan: FaultPlanned | None = None
    """Of a connection try."""
    status: int | None = None
    ended: float = 0.0
    wait_s: float | None = None
    """Seconds that its answer asks to wait."""
    is_hit: bool = False
    before: "_Ask | None" = None
    """The last request for the same."""

    @property
    def place(self) -> object:
        """What requests for the same have in common."""
        if self.is_model:
            return self.step
        return self.request.method, equivalence.place(self.request.url)

    @property
    def result(self) -> object:
        """What it has met, to be compared with another's."""
        return self.status if self.plan is None else self.plan.effects

    def asks_same(self, other: "_Ask") -> bool:
        """Whether it asks for the same as an earlier one."""
        if other.plan is not None:
            return connection_tries.proves_reachable(self.request, other.plan)
        if self.plan is not None:
            return False
        if self.is_model or other.is_model:
            return self.is_model and other.is_model and self.step == other.step
        return equivalence.same_operation(self.request, other.request)

    def concerns(self, other: "_Ask") -> bool:
        """Whether the time that its answer asks to wait is one for another request, too.

        Too many requests are too many for all of a server.
        """
        if self.status != _TOO_MANY:
            return other.asks_same(self)
        hosts = {urlsplit(one.request.url).netloc for one in (self, other)}
        return len(hosts) == 1 and self.is_model == other.is_model

    @property
    def is_permanent(self) -> bool:
        """Whether its answer says that the same request cannot succeed."""
        status = self.status or 0
        return status in _NEVER_HERE or (400 <= status < 500 and status not in _ASK_AGAIN)


@dataclass
class _Asks:
    """The requests of the agent, in order, up to its end."""

    asks: list[_Ask] = field(default_factory=list)
    by_exchange: dict[str, _Ask] = field(default_factory=dict)
    calls: list[LlmCall] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    """Seconds at which the model had answered."""
    early: set[int] = field(default_factory=set)
    first_fault: float | None = None
    _places: dict[object, list[_Ask]] = field(default_factory=dict)
    _unreached: list[_Ask] = field(default_factory=list)
    """Connection tries whose hosts have not been reached since."""

    def add(self, entry: Entry, request: RequestSeen, call: LlmCall | None) -> None:
        """Add a request, unless a page has made it by itself."""
        step = 0 if call is None else call.step
        number = len(self.asks)
        ask = _Ask(number, entry.seq, entry.t, request, call is not None, step, ended=entry.t)
        failed = [one for one in self._unreached if ask.asks_same(one)]
        self._unreached = [one for one in self._unreached if one not in failed]
        if call is None and not _is_of_agent(request):
            return
        alike = self._places.setdefault(ask.place, [])
        same = next((one for one in reversed(alike) if one.asks_same(ask)), None)
        last = (*failed, same) if same is not None else failed
        ask.before = max(last, key=lambda one: one.number, default=None)
        alike.append(ask)
        self._append(ask)

    def add_try(self, entry: Entry, plan: FaultPlanned, *, is_model: bool) -> None:
        """Add a connection try; a client's silent repeat belongs to the one before."""
        request = connection_tries.request_of_try(plan)
        assert request is not None
        number = len(self.asks)
        ask = _Ask(number, entry.seq, entry.t, request, is_model, plan=plan, ended=entry.t)
        before = next((one for one in reversed(self._unreached) if ask.asks_same(one)), None)
        if before and plan.repeat_of and not self.has_answered_between(before, ask):
            before.ended = entry.t
            self.by_exchange[plan.exchange] = before
            return
        ask.before = before
        self._unreached.append(ask)
        self._append(ask)

    def has_answered_between(self, before: _Ask, ask: _Ask) -> bool:
        """Whether the model has answered after the end of a request and before another."""
        return any(before.ended <= answered <= ask.t for answered in self.answered)

    def _append(self, ask: _Ask) -> None:
        self.by_exchange[ask.request.exchange] = ask
        self.asks.append(ask)


def strategy(entries: Sequence[Entry]) -> Strategy:
    """Return what the agent did after the faults of a trial."""
    seen = _read(entries)
    hit = [ask for ask in seen.asks if ask.is_hit]
    pages = one_page(seen.asks, seen.calls, seen.first_fault or 0.0)
    if not hit:
        return Strategy(one_page=pages)
    retries = [ask for ask in seen.asks if _is_retry(ask, seen)]
    return Strategy(
        tuple(ask.seq for ask in retries),
        tuple(ask.seq for ask in retries if _is_blind(ask, seen.asks)),
        tuple(sorted(seen.early.union(_too_early(seen.asks)))),
        pages,
    )


def _read(entries: Sequence[Entry]) -> _Asks:
    calls = {e.event.exchange: e.event for e in entries if isinstance(e.event, LlmCall)}
    carriers = {call.carrier: call for call in calls.values()}
    hosts = {connection_tries.host_in(call.url) for call in calls.values()}
    seen = _Asks()
    for entry in entries:
        match entry.event:
            case Disarmed(by="terminal_action" | "harness"):
                break
            case RequestSeen() as request if request.repeat_of is None:
                seen.add(entry, request, carriers.get(request.exchange))
            case FaultPlanned() as plan if plan.point and not set(plan.effects) <= KEEPS_ANSWER:
                seen.add_try(entry, plan, is_model=connection_tries.host_of(plan) in hosts)
            case ResponseSeen() as response if response.exchange in seen.by_exchange:
                ask = seen.by_exchange[response.exchange]
                ask.status, ask.ended = response.status, entry.t
                ask.wait_s = announced_wait(response.status, dict(response.headers))
            case FaultDelivered() as done:
                if seen.first_fault is None:
                    seen.first_fault = entry.t
                if (hit := seen.by_exchange.get(done.exchange)) is not None:
                    hit.is_hit = True
                    hit.ended = hit.ended if hit.plan is None else entry.t
            case LlmRetried() as again if again.waited_s < _NEARLY * again.retry_after_s:
                # The time may stand in the body of the answer, which the trace does not have.
                if again.exchange in seen.by_exchange:
                    seen.early.add(seen.by_exchange[again.exchange].seq)
            case LlmCall() as call:
                seen.calls.append(call)
                seen.answered.append(call.began + call.latency_s)
            case _:
                pass
    return seen


def _is_of_agent(request: RequestSeen) -> bool:
    """Whether a request is not one that a page makes by itself, as it loads."""
    is_page = request.resource == "document" and request.top_level
    return is_page or by_program(request) or equivalence.is_write(request)


def _is_retry(ask: _Ask, seen: _Asks) -> bool:
    """Whether a request asks once more for what a fault had hit, and not by the browser."""
    before = ask.before
    if before is None or not before.is_hit:
        return False
    if ask.is_model or by_program(ask.request) or not seen.answered:
        return True
    return seen.has_answered_between(before, ask)


def _is_blind(ask: _Ask, asks: Sequence[_Ask]) -> bool:
    """Whether a retry could expect nothing else: nothing else was asked for in between."""
    failures: list[_Ask] = []
    for number in range(ask.number - 1, -1, -1):
        one = asks[number]
        if one.is_model != ask.is_model:
            continue
        if not (one.is_hit and ask.asks_same(one)) or len(failures) == _ALIKE:
            break
        failures.append(one)
    if not failures:
        return False
    last = failures[0]
    if last.wait_s is not None and ask.t >= last.ended + _NEARLY * last.wait_s:
        return False  # Its answer had a time to ask again.
    alike = {one.result for one in failures}
    return last.is_permanent or (len(failures) == _ALIKE and len(alike) == 1)


def _too_early(asks: Sequence[_Ask]) -> Iterator[int]:
    """Yield the requests before the time is over that an answer to an earlier one asked to wait."""
    waits = [one for one in asks if one.is_hit and one.wait_s]
    for ask in asks[waits[0].number + 1 :] if waits else ():
        for one in waits:
            over = one.ended + _NEARLY * (one.wait_s or 0.0)
            if one.ended <= ask.t < over and one.concerns(ask):
                yield ask.seq
                break


def announced_wait(status: int | None, headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer asks to wait; None if it asks for nothing.

    ``Retry-After`` is a number or a date. A 429 without it asks for a little.
    """
    named = {name.lower(): value.strip() for name, value in headers.items()}
    value = named.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value)
    if (until := _date(value)) is not None and (now := _date(named.get("date", ""))) is not None:
        return max(0.0, (until - now).total_seconds())
    return _DEFAULT_WAIT_S if status == _TOO_MANY else None


def _date(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except ValueError:
        return None


def one_page(asks: Iterable[_Ask], calls: Sequence[LlmCall], since: float) -> OnePage | None:
    """Return the page on which most steps were spent from a second of the trial on."""
    answered = [one for one in asks if not one.is_model and one.plan is None]
    opened = [one for one in answered if not equivalence.is_write(one.request)]
    spent: dict[str, set[int]] = {}
    page_of: dict[int, str] = {}
    for call in calls:
        if call.began < since or (url := _open_page(opened, call.began)) is None:
            continue
        known = next((page for page in spent if equivalence.same_page(page, url)), url)
        spent.setdefault(known, set()).add(call.step)
        page_of.setdefault(call.step, known)
    if not spent:
        return None
    page = max(spent, key=lambda url: len(spent[url]))
    return OnePage(page, len(spent[page]) / len(page_of), _share_of_tokens(calls, page_of, page))


def _open_page(opened: Sequence[_Ask], at: float) -> str | None:
    return next((one.request.url for one in reversed(opened) if one.t <= at), None)


def _share_of_tokens(
    calls: Iterable[LlmCall], page_of: Mapping[int, str], page: str
) -> float | None:
    known = [call for call in calls if call.step in page_of]
    if any(call.input_tokens is None and call.error is None for call in known):
        return None
    of_page = sum(_tokens(call) for call in known if page_of[call.step] == page)
    total = sum(map(_tokens, known))
    return of_page / total if total else None


def _tokens(call: LlmCall) -> int:
    return (call.input_tokens or 0) + (call.output_tokens or 0)


def in_words(strategy: Strategy) -> Iterator[str]:
    """Yield a clause for each rule that the agent broke, with lines of the trace."""
    if strategy.blind:
        yield f"asked again blindly {_describe_count(strategy.blind)}"
    if strategy.early:
        yield f"asked before the announced time was over {_describe_count(strategy.early)}"


def _describe_count(lines: Sequence[int]) -> str:
    times = "once" if len(lines) == 1 else f"{len(lines)} times"
    return f"{times} {' '.join(f'[{seq}]' for seq in lines[:8])}"
