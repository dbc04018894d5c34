"""Whether the agent recovered from a fault.

Recovery is the agent's own: after the fault the model was asked, and the action it chose explains
that the right request was made next. Browsers reload error pages by themselves and pages fetch
again by themselves; that heals the trial and says nothing about the agent.

The right next request is, for an attempt that failed before there was a request, any that the host
answers; for a document, the same URL without its fragment; for a script, an
image or another part of a page, the document that asked for it; for a write or a page's own fetch,
the same method and URL. What was answered to it does not matter: if a second fault met it, that is
a second injection and judged by itself.

Source: the paper, section 5.2 (recovery rate).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urldefrag

from warex.analysis import attempts
from warex.analysis.usage import seconds_saved
from warex.llm.actions import Vocabulary
from warex.traces.events import (
    AgentAction,
    Disarmed,
    Entry,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    ResponseSeen,
)

type Verdict = Literal[
    "recovered",
    "not_recovered",
    "healed_by_browser",
    "healed_by_page",
    "not_possible",
    "not_needed",
    "undecided",
]
"""What became of an injection. Only the first four stand in the recovery rate.

``not_possible``: no action of the benchmark could have helped. ``not_needed``: the page came late
but whole. ``undecided``: the trace cannot say.
"""

COUNTING: frozenset[Verdict] = frozenset(
    ("recovered", "not_recovered", "healed_by_browser", "healed_by_page")
)
_CHROMIUM_RELOADS = (1.0, 5.0, 30.0, 60.0, 300.0, 600.0, 1800.0)
"""Seconds after which Chromium loads a page again that got no answer, without being asked
(components/error_page, AutoReloadController)."""
_RELOAD_LATENESS = 0.35
_PARTS = frozenset(("script", "stylesheet", "image", "font", "media"))
_RELOADABLE = attempts.EFFECTS | {"delay", "reply", "cut"}


@dataclass(frozen=True, slots=True)
class Recovery:
    """The verdict on one injection, and the lines of the trace that it rests on."""

    injection: str
    verdict: Verdict
    why: str
    """One sentence."""
    fault_seq: int
    """The ``fault_delivered`` event."""
    call_seq: int | None = None
    """The ``llm_call`` whose action explains the right next request."""
    request_seq: int | None = None
    """The right next request."""
    seconds: float | None = None
    """From the fault to the right next request, as if each replayed answer of the model had taken
    the time it took when it was given first."""
    steps: int | None = None
    tokens: int | None = None
    """In and out, of the calls in between."""
    tries: int = 0
    """How often the right request was made after the fault."""
    disagreement: str = ""
    """Where the model's words and the network do not tell the same, one sentence; empty where they
    agree."""


@dataclass(frozen=True, slots=True)
class _Felt:
    """A delivered injection and what it hit."""

    planned: FaultPlanned
    request: RequestSeen
    """For an attempt that failed, the page that would have been asked for."""
    delivered: Entry
    since: float
    """Second of the trial from which the client lived with the fault."""


def recoveries(
    entries: Sequence[Entry], vocabulary: Vocabulary | None = None
) -> tuple[Recovery, ...]:
    """Judge every delivered injection of a trial, in the order of delivery.

    ``vocabulary`` is the benchmark's, as frozen into the manifest; None where none is known.
    """
    judge = _Judge(entries, vocabulary)
    return tuple(judge.judge(felt) for felt in _felt(entries))


def trial_recovered(verdicts: Iterable[Recovery]) -> bool | None:
    """Say whether each injection of a trial was recovered from; None keeps it out of the rate."""
    found = {recovery.verdict for recovery in verdicts}
    if not found & COUNTING:
        return None
    if found & (COUNTING - {"recovered"}):
        return False
    return None if "undecided" in found else True


def _felt(entries: Sequence[Entry]) -> list[_Felt]:
    requests: dict[str, RequestSeen] = {}
    planned: dict[str, tuple[FaultPlanned, float]] = {}
    first: dict[str, str] = {}
    felt: dict[str, _Felt] = {}
    for entry in entries:
        match entry.event:
            case RequestSeen() as request:
                requests[request.exchange] = request
            case FaultPlanned() as plan:
                planned[plan.injection] = plan, entry.t
                # A browser's silent repeat is the same occurrence: one verdict for both.
                again = plan.repeat_of or plan.injection
                first[plan.injection] = first.get(again, again)
            case FaultDelivered() as done if done.injection in planned:
                plan, planned_at = planned[done.injection]
                if request_hit := attempts.attempted(plan) or requests.get(done.exchange):
                    # A client that gives up does so by asking again: that request comes before
                    # the delivery is written.
                    since = planned_at if done.client_left else entry.t
                    felt[first[plan.injection]] = _Felt(plan, request_hit, entry, since)
            case _:
                pass
    return list(felt.values())


class _Judge:
    """The parts of one trace that verdicts need."""

    def __init__(self, entries: Sequence[Entry], vocabulary: Vocabulary | None) -> None:
        self._vocabulary = vocabulary
        self._requests: list[tuple[Entry, RequestSeen]] = []
        self._calls: list[tuple[Entry, LlmCall]] = []
        self._actions: dict[str, list[AgentAction]] = {}
        self._answered: dict[str, int | None] = {}
        self._hit: set[str] = set()
        stopped = False
        for entry in entries:
            match entry.event:
                case Disarmed(by="terminal_action"):
                    # From here on it is the benchmark that looks at the site, not the agent.
                    stopped = True
                case RequestSeen() as request if not stopped:
                    self._requests.append((entry, request))
                case ResponseSeen() as response:
                    self._answered[response.exchange] = response.status
                case FaultDelivered() as done:
                    self._hit.add(done.exchange)
                case LlmCall() as call:
                    self._calls.append((entry, call))
                case AgentAction() as action:
                    self._actions.setdefault(action.exchange, []).append(action)
                case _:
                    pass

    def judge(self, felt: _Felt) -> Recovery:
        if not _RELOADABLE.issuperset(felt.planned.effects):
            return self._say(felt, "undecided", "No rule says how to recover from this fault.")
        if set(felt.planned.effects) <= {"delay"} and not self._client_left(felt):
            return self._say(felt, "not_needed", "The answer came late but whole.")
        if not self._calls:
            return self._say(felt, "undecided", "Network evidence only: the trace has no LLM call.")
        if self._vocabulary and not _could_help(self._vocabulary, felt.request):
            why = "The benchmark's vocabulary has no action that could recover."
            return self._say(felt, "not_possible", why)
        tries = self._right_requests(felt)
        for entry, request in tries:
            between = self._calls_between(felt.since, entry.t)
            explaining = [c for c in between if self._explains(c[1], felt, entry, request)]
            if explaining:
                return self._recovered(felt, entry, request, between, explaining[-1], len(tries))
            if between and self._vocabulary is None and not self._actions:
                why = "The model was asked in between, but this agent's actions are not known."
                return self._say(felt, "undecided", why, request=entry, tries=len(tries))
            # A reload that meets the next injection has healed nothing yet.
            if request.exchange not in self._hit:
                return self._healed(felt, entry, between, len(tries))
        if (again := self._asked_again_by_its_page(felt)) is not None:
            return self._healed(felt, again, self._calls_between(felt.since, again.t), len(tries))
        why = f"{self._wanted(felt)} again"
        why += " by the agent." if tries else "."
        return self._say(
            felt,
            "not_recovered",
            why,
            tries=len(tries),
            disagreement=self._said_without_doing(felt, tries),
        )

    def _recovered(
        self,
        felt: _Felt,
        entry: Entry,
        request: RequestSeen,
        between: Sequence[tuple[Entry, LlmCall]],
        explaining: tuple[Entry, LlmCall],
        tries: int,
    ) -> Recovery:
        call_entry, call = explaining
        names = ", ".join(a.name for a in self._actions[call.exchange])
        return Recovery(
            injection=felt.planned.injection,
            verdict="recovered",
            why=f"After the fault the model chose {names}, and {request.method} {request.url}"
            " followed.",
            fault_seq=felt.delivered.seq,
            call_seq=call_entry.seq,
            request_seq=entry.seq,
            seconds=entry.t - felt.since + seconds_saved(call for _, call in between),
            steps=len({call.step for _, call in between}),
            tokens=sum((c.input_tokens or 0) + (c.output_tokens or 0) for _, c in between),
            tries=tries,
        )

    def _healed(
        self, felt: _Felt, entry: Entry, between: Sequence[tuple[Entry, LlmCall]], tries: int
    ) -> Recovery:
        asked = "no action of the model explains it" if between else "the model was not asked"
        # Chromium reloads its own error page, which it shows only where no answer came at all.
        no_answer = self._answered.get(felt.request.exchange) is None
        by_browser = no_answer and felt.request.resource == "document"
        return self._say(
            felt,
            "healed_by_browser" if by_browser else "healed_by_page",
            f"The {'browser' if by_browser else 'page'} asked again; {asked} in between.",
            request=entry,
            tries=tries,
            disagreement=self._done_without_saying(between),
        )

    def _done_without_saying(self, between: Sequence[tuple[Entry, LlmCall]]) -> str:
        """Say what the model chose where the right request came from elsewhere."""
        if not between:
            return ""
        entry, call = between[-1]
        names = ", ".join(action.name for action in self._actions.get(call.exchange, ()))
        chose = f"the model chose {names}" if names else "no action could be read in its answer"
        return f"The right request was made, though {chose} at step {call.step} [{entry.seq}]."

    def _said_without_doing(self, felt: _Felt, tries: Sequence[tuple[Entry, RequestSeen]]) -> str:
        """Name an action that was to load the page again where the network saw no such request."""
        page = self._page(felt)
        retries = self._vocabulary.retry if self._vocabulary else ()
        for place, (entry, call) in enumerate(self._calls):
            answered = call.began + call.latency_s
            if call.began < felt.since or not page:
                continue
            shown = [r.url for e, r in self._requests if r.top_level and e.t <= answered]
            if not shown or _bare(shown[-1]) != _bare(page):
                continue
            chosen = [a.name for a in self._actions.get(call.exchange, ()) if a.name in retries]
            until = self._calls[place + 1][1].began if place + 1 < len(self._calls) else None
            done = any(answered <= e.t and (until is None or e.t <= until) for e, _ in tries)
            if chosen and not done:
                return (
                    f"The model chose {chosen[0]} at step {call.step} [{entry.seq}], but {page} was"
                    " not asked for."
                )
        return ""

    def _asked_again_by_its_page(self, felt: _Felt) -> Entry | None:
        """Return the request by which a page brought in a part of its own that had failed."""
        if felt.planned.point is not None or felt.request.resource not in _PARTS:
            return None
        for entry, request in self._requests:
            if request.exchange == felt.request.exchange or entry.t < felt.since:
                continue
            if request.resource == "document" and request.top_level:
                return None
            answer = self._answered.get(request.exchange)
            if (
                _bare(request.url) == _bare(felt.request.url)
                and answer is not None
                and answer < 400
            ):
                return entry
        return None

    def _say(
        self,
        felt: _Felt,
        verdict: Verdict,
        why: str,
        request: Entry | None = None,
        tries: int = 0,
        disagreement: str = "",
    ) -> Recovery:
        return Recovery(
            injection=felt.planned.injection,
            verdict=verdict,
            why=why,
            fault_seq=felt.delivered.seq,
            request_seq=request.seq if request else None,
            tries=tries,
            disagreement=disagreement,
        )

    def _client_left(self, felt: _Felt) -> bool:
        return isinstance(felt.delivered.event, FaultDelivered) and felt.delivered.event.client_left

    def _explains(self, call: LlmCall, felt: _Felt, entry: Entry, request: RequestSeen) -> bool:
        waits = self._vocabulary.noop if self._vocabulary else ()
        actions = self._actions.get(call.exchange, ())
        roles = {
            action.role
            for action in actions
            if action.name not in waits and not _leads_elsewhere(action, request)
        }
        if "recover" in roles:
            return True
        # A click sends a form again, or follows a "try again" link: then the browser itself says
        # that a person's gesture led to the page (Fetch Metadata, Sec-Fetch-User; HTTPS only).
        # Chromium says so of its own reloads, too; those are known by when they come.
        if self._comes_when_chromium_reloads(felt, entry, request):
            return False
        told = {name.lower(): value for name, value in request.headers}
        gesture = told.get("sec-fetch-user") == "?1"
        if "navigate" in roles and (gesture or "sec-fetch-mode" not in told):
            return True
        return bool(roles & {"navigate", "other"}) and (gesture or _is_write(felt.request))

    def _comes_when_chromium_reloads(self, felt: _Felt, entry: Entry, request: RequestSeen) -> bool:
        if request.resource != "document" or self._answered.get(felt.request.exchange) is not None:
            return False
        tried = [felt.since] + [
            e.t
            for e, r in self._requests
            if felt.since <= e.t < entry.t
            and _bare(r.url) == _bare(request.url)
            and self._answered.get(r.exchange) is None
        ]
        since_last = entry.t - max(tried)
        return any(0 <= since_last - due <= _RELOAD_LATENESS for due in _CHROMIUM_RELOADS)

    def _calls_between(self, start: float, end: float) -> list[tuple[Entry, LlmCall]]:
        return [
            (entry, call)
            for entry, call in self._calls
            if call.began >= start and call.began + call.latency_s <= end
        ]

    def _wanted(self, felt: _Felt) -> str:
        if felt.planned.point is not None:
            return f"{attempts.host_of(felt.planned)} was not reached"
        page, hit = self._page(felt), felt.request
        return f"{'GET' if page else hit.method} {_bare(page or hit.url)} was not asked for"

    def _right_requests(self, felt: _Felt) -> list[tuple[Entry, RequestSeen]]:
        if felt.planned.point is not None:
            calls = {call.exchange for _, call in self._calls}
            return [
                (entry, request)
                for entry, request in self._requests
                if entry.t >= felt.since
                and attempts.reaches(request, felt.planned)
                and self._answered.get(request.exchange) is not None
                and request.exchange not in calls
            ]
        wanted = self._page(felt)
        return [
            (entry, request)
            for entry, request in self._requests
            if entry.t >= felt.since
            and request.exchange != felt.request.exchange
            and _is_right(request, felt.request, wanted)
        ]

    def _page(self, felt: _Felt) -> str:
        """Return the URL whose document is to be asked for again; empty for a write."""
        hit = felt.request
        if hit.resource == "document" and not _is_write(hit):
            return hit.url
        if hit.resource not in _PARTS:
            return ""
        before: list[str] = []
        for _, request in self._requests:
            if request.exchange == hit.exchange:
                break
            if request.resource == "document" and request.top_level:
                before.append(request.url)
        # A Referer may be cut down to the origin (Referrer Policy), and a script may be asked for
        # by another script: it names the page only if that page was really loaded.
        referer = next((v for k, v in hit.headers if k.lower() == "referer"), "")
        if _bare(referer) in map(_bare, before):
            return referer
        return before[-1] if before else referer


def _leads_elsewhere(action: AgentAction, request: RequestSeen) -> bool:
    """Whether an action names a host that the request did not go to.

    Within a site a redirect may lead from the one to the other.
    """
    given = action.arguments
    values = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    named = {attempts.host_in(value) for value in values if isinstance(value, str)} - {None}
    return bool(named) and attempts.host_in(request.url) not in named


def _could_help(vocabulary: Vocabulary, hit: RequestSeen) -> bool:
    if _is_write(hit):
        return bool(vocabulary.names.difference(vocabulary.finish, vocabulary.noop))
    return bool(vocabulary.navigate or vocabulary.recover)


def _bare(url: str) -> str:
    return urldefrag(url).url


def _is_write(request: RequestSeen) -> bool:
    return request.method not in ("GET", "HEAD")


def _is_right(request: RequestSeen, hit: RequestSeen, page: str) -> bool:
    if page:
        return (
            request.resource == "document"
            and not _is_write(request)
            and _bare(request.url) == _bare(page)
        )
    return request.method == hit.method and _bare(request.url) == _bare(hit.url)
