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

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.clients import by_program
from warex.traces.events import (
    Disarmed,
    Entry,
    FaultDelivered,
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
_UNSAID_S: Final = 1.0
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
    """One request of the agent: for a page, by a program, a write, or to the model."""

    number: int
    """Among the trial's, from 0."""
    seq: int
    t: float
    request: RequestSeen
    is_model: bool
    step: int = 0
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

    def asks_same(self, other: "_Ask") -> bool:
        """Whether two requests are for the same."""
        if self.is_model or other.is_model:
            return self.is_model and other.is_model and self.step == other.step
        return equivalence.same_operation(self.request, other.request)

    def concerns(self, other: "_Ask") -> bool:
        """Whether the time that its answer asks to wait is one for another request, too.

        Too many requests are too many for all of a server.
        """
        if self.status != _TOO_MANY:
            return self.asks_same(other)
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
    calls: list[LlmCall] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    """Seconds at which the model had answered."""
    early: set[int] = field(default_factory=set)
    first_fault: float | None = None


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
    seen, by_exchange = _Asks(), dict[str, _Ask]()
    places: dict[object, list[_Ask]] = {}
    for entry in entries:
        match entry.event:
            case Disarmed(by="terminal_action" | "harness"):
                break
            case RequestSeen() as request if request.repeat_of is None:
                call = carriers.get(request.exchange)
                if call is None and not _is_of_agent(request):
                    continue
                step = 0 if call is None else call.step
                number = len(seen.asks)
                ask = _Ask(
                    number, entry.seq, entry.t, request, call is not None, step, ended=entry.t
                )
                alike = places.setdefault(ask.place, [])
                ask.before = next((one for one in reversed(alike) if one.asks_same(ask)), None)
                alike.append(ask)
                by_exchange[request.exchange] = ask
                seen.asks.append(ask)
            case ResponseSeen() as response if response.exchange in by_exchange:
                ask = by_exchange[response.exchange]
                ask.status, ask.ended = response.status, entry.t
                ask.wait_s = announced_wait(response.status, dict(response.headers))
            case FaultDelivered() as done:
                if seen.first_fault is None:
                    seen.first_fault = entry.t
                if done.exchange in by_exchange:
                    by_exchange[done.exchange].is_hit = True
            case LlmRetried() as again if again.waited_s < _NEARLY * again.retry_after_s:
                # The time may stand in the body of the answer, which the trace does not have.
                if again.exchange in by_exchange:
                    seen.early.add(by_exchange[again.exchange].seq)
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
    return any(before.ended <= answered <= ask.t for answered in seen.answered)


def _is_blind(ask: _Ask, asks: Sequence[_Ask]) -> bool:
    """Whether a retry could expect nothing else: nothing else was asked for in between."""
    failures: list[_Ask] = []
    for number in range(ask.number - 1, -1, -1):
        one = asks[number]
        if one.is_model != ask.is_model:
            continue
        if not (one.is_hit and one.asks_same(ask)) or len(failures) == _ALIKE:
            break
        failures.append(one)
    if not failures:
        return False
    last = failures[0]
    if last.wait_s is not None and ask.t >= last.ended + _NEARLY * last.wait_s:
        return False  # Its answer had said when to ask again.
    alike = {one.status for one in failures}
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
    return _UNSAID_S if status == _TOO_MANY else None


def _date(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except ValueError:
        return None


def one_page(asks: Iterable[_Ask], calls: Sequence[LlmCall], since: float) -> OnePage | None:
    """Return the page on which most steps were spent from a second of the trial on."""
    opened = [one for one in asks if not one.is_model and not equivalence.is_write(one.request)]
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
    whole = sum(map(_tokens, known))
    return of_page / whole if whole else None


def _tokens(call: LlmCall) -> int:
    return (call.input_tokens or 0) + (call.output_tokens or 0)


def in_words(found: Strategy) -> Iterator[str]:
    """Yield a clause for each rule that the agent broke, with lines of the trace."""
    if found.blind:
        yield f"asked again blindly {_often(found.blind)}"
    if found.early:
        yield f"asked before the announced time was over {_often(found.early)}"


def _often(lines: Sequence[int]) -> str:
    times = "once" if len(lines) == 1 else f"{len(lines)} times"
    return f"{times} {' '.join(f'[{seq}]' for seq in lines[:8])}"
