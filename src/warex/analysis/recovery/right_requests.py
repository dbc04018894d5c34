"""Finds the later requests that ask again for what an injection hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from warex.analysis.recovery import connection_tries, equivalence
from warex.analysis.recovery.causes import FaultImpact
from warex.analysis.recovery.trial_events import ModelCall, SeenRequest, TrialEvents
from warex.analysis.recovery.verdicts import Confidence, Recovery, RecoveryVerdict
from warex.effects import effects_with
from warex.traces.events import FaultDelivered, FaultPlanned, RequestSeen

_OF_MESSAGES = effects_with(lambda traits: traits.changes_messages)


@dataclass(frozen=True, slots=True)
class DeliveredInjection:
    """A delivered injection and what it hit."""

    plan: FaultPlanned
    delivered: FaultDelivered
    seq: int
    felt: FaultImpact
    priced_from: float
    """Second from which the cost of a recovery counts: the delivery, or the planning if the client
    left."""
    met: Mapping[str, str]
    """All exchanges that it hit, with the injection of each: several for a quota or a wall."""

    @property
    def hit(self) -> RequestSeen:
        """The request that it hit."""
        return self.felt.request

    def hit_at(self, trial: TrialEvents) -> float:
        """Return the second at which the request that was hit was made."""
        made = (one.t for one in trial.requests if one.event.exchange == self.hit.exchange)
        return next(made, self.felt.felt_at)

    def judged(
        self,
        verdict: RecoveryVerdict,
        why: str,
        asked: SeenRequest | None = None,
        tries: int = 0,
        call: ModelCall | None = None,
        *,
        is_certain: bool = True,
    ) -> Recovery:
        """Return a verdict; ``asked`` is the right next request, ``call`` what led to it."""
        return Recovery(
            injection=self.plan.injection,
            verdict=verdict,
            why=why,
            fault_seq=self.seq,
            confidence=_confidence(verdict, is_certain=is_certain),
            call_seq=call.seq if call else None,
            request_seq=asked.entry.seq if asked else None,
            tries=tries,
        )

    def priced(self, trial: TrialEvents, verdict: Recovery, until: float) -> Recovery:
        """Add the cost of a recovery, up to a second of the trial."""
        calls = [call.event for call in trial.calls_between(self.felt.felt_at, until)]
        return replace(
            verdict,
            seconds=until - self.priced_from + sum(call.saved_s for call in calls),
            steps=len({call.step for call in calls}),
            tokens=sum((c.input_tokens or 0) + (c.output_tokens or 0) for c in calls),
        )


def _confidence(verdict: RecoveryVerdict, *, is_certain: bool) -> Confidence:
    if verdict == "undecided":
        return "unknown"
    return "certain" if is_certain else "likely"


def wanted(injection: DeliveredInjection) -> str:
    """Say in words what was not requested again."""
    if injection.felt.is_connection_try:
        return f"{connection_tries.host_of(injection.plan)} was not reached"
    pages, hit = injection.felt.pages, injection.hit
    wanted = pages[0] if pages and is_of_a_page(hit) else ""
    return f"{'GET' if wanted else hit.method} {wanted or hit.url} was not asked for"


def is_of_a_page(hit: RequestSeen) -> bool:
    """Whether loading a page again brings back what was hit."""
    return hit.resource in equivalence.SUBRESOURCES or (
        hit.resource == "document" and not equivalence.is_write(hit)
    )


def right_requests(trial: TrialEvents, injection: DeliveredInjection) -> list[SeenRequest]:
    """Return the later requests that would bring back what was hit, in order."""
    felt, hit = injection.felt, injection.hit
    after = [
        one
        for one in trial.requests
        if one.t >= felt.felt_at
        and one.event.exchange != hit.exchange
        and not _is_followed(trial, injection, one)
    ]
    if felt.is_connection_try:
        answered = [one for one in after if trial.status(one.event.exchange) is not None]
        tried = [one for one in trial.connection_tries if one.t > felt.felt_at]
        plan = injection.plan
        requests = [
            one for one in (*answered, *tried) if connection_tries.proves_reachable(one.event, plan)
        ]
    elif is_of_a_page(hit):
        pages = felt.pages or (hit.url,)
        pages += tuple(place for page in pages for place in trial.landings(page))
        requests = [one for one in after if _asks_for(one, pages)]
        if hit.resource in equivalence.SUBRESOURCES:
            requests += _parts_again(trial, after, hit)
            requests += _parts_elsewhere(trial, after, hit)
    elif _is_channel(injection):
        requests = _working_channels(trial, after, hit, felt.pages)
    else:
        landings = () if equivalence.is_write(hit) else tuple(trial.landings(hit.url))
        requests = [
            one
            for one in after
            if equivalence.same_operation(one.event, hit)
            or (
                one.event.method == hit.method
                and any(equivalence.same_page(one.event.url, page) for page in landings)
            )
        ]
    return sorted(requests, key=lambda one: one.entry.seq)


def _is_channel(injection: DeliveredInjection) -> bool:
    """Whether an injection hit a WebSocket, or a stream of events that goes on."""
    is_socket = injection.hit.resource == "websocket"
    return is_socket or not _OF_MESSAGES.isdisjoint(injection.plan.effects)


def _working_channels(
    trial: TrialEvents, after: Sequence[SeenRequest], hit: RequestSeen, pages: Sequence[str]
) -> list[SeenRequest]:
    """Return the later channels that have brought something.

    If none was opened any more, return the loads of the page, which may get its data otherwise.
    """
    opened = [one for one in after if equivalence.same_operation(one.event, hit)]
    if opened:
        return [one for one in opened if trial.brought_data(one.event.exchange)]
    loads = (one for one in after if one.is_page and _asks_for(one, pages))
    return [one for one in loads if (trial.status(one.event.exchange) or 400) < 400]


def _is_followed(trial: TrialEvents, injection: DeliveredInjection, asked: SeenRequest) -> bool:
    """Whether a request was answered with a redirect by the fault itself."""
    exchange = asked.event.exchange
    return exchange in injection.met and (trial.status(exchange) or 0) // 100 == 3


def _asks_for(asked: SeenRequest, pages: Sequence[str]) -> bool:
    """Whether a request is for one of the pages; a single-page app fetches them itself."""
    brings_page = asked.event.resource in ("document", "xhr") and asked.event.method == "GET"
    return brings_page and any(equivalence.same_page(asked.event.url, page) for page in pages)


def _parts_again(
    trial: TrialEvents, after: Sequence[SeenRequest], hit: RequestSeen
) -> list[SeenRequest]:
    """Return the requests by which the open page loads a part that had failed."""
    return [
        one
        for one in takewhile(lambda one: not one.is_page, after)
        if _brings_part(trial, one, hit)
    ]


def _parts_elsewhere(
    trial: TrialEvents, after: Sequence[SeenRequest], hit: RequestSeen
) -> list[SeenRequest]:
    """Return the requests for a part by pages that only this trial opens, and not its twin.

    All routes of a single-page app have the same parts. What the twin opens as well, the task opens
    anyhow.
    """
    if trial.twin is None:
        return []
    requests: list[SeenRequest] = []
    opened: SeenRequest | None = None
    for one in after:
        if one.is_page:
            opened = None if trial.twin.opens(one.event) else one
        elif opened is not None and _brings_part(trial, one, hit):
            requests.append(one)
    return requests


def _brings_part(trial: TrialEvents, one: SeenRequest, hit: RequestSeen) -> bool:
    is_part = equivalence.same_page(one.event.url, hit.url)
    return is_part and (trial.status(one.event.exchange) or 400) < 400
