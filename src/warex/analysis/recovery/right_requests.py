"""Which later requests ask again for what an injection hit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warex.analysis.recovery import connection_tries, equivalence
from warex.analysis.recovery.causes import FaultImpact
from warex.analysis.recovery.trial_events import SeenRequest, TrialEvents
from warex.traces.events import FaultDelivered, FaultPlanned, RequestSeen


@dataclass(frozen=True, slots=True)
class DeliveredInjection:
    """A delivered injection and what it hit."""

    plan: FaultPlanned
    delivered: FaultDelivered
    seq: int
    felt: FaultImpact
    priced_from: float
    """Second of the trial from which a recovery's price is counted: the delivery, or, where the
    client gave up waiting, the beginning."""
    met: Mapping[str, str]
    """All exchanges that it hit, and the injection of each: of a quota or a wall, more than one."""

    @property
    def hit(self) -> RequestSeen:
        """The request that it hit."""
        return self.felt.request


def wanted(injection: DeliveredInjection) -> str:
    """Return what was not asked for again, in words."""
    if injection.felt.attempt:
        return f"{connection_tries.host_of(injection.plan)} was not reached"
    pages, hit = injection.felt.pages, injection.hit
    wanted = pages[0] if pages and is_of_a_page(hit) else ""
    return f"{'GET' if wanted else hit.method} {wanted or hit.url} was not asked for"


def is_of_a_page(hit: RequestSeen) -> bool:
    """Whether asking for a page brings back what was hit."""
    return hit.resource in equivalence.SUBRESOURCES or (
        hit.resource == "document" and not equivalence.is_write(hit)
    )


def right_requests(story: TrialEvents, injection: DeliveredInjection) -> list[SeenRequest]:
    """Return the later requests that would bring back what was hit, in order."""
    felt, hit = injection.felt, injection.hit
    after = [one for one in story.requests if one.t >= felt.felt_at]
    after = [one for one in after if one.event.exchange != hit.exchange]
    after = [one for one in after if not _is_followed(story, injection, one)]
    if felt.attempt:
        found = [one for one in after if story.status(one.event.exchange) is not None]
        found += [one for one in story.attempts if one.t > felt.felt_at]
        found = [
            one for one in found if connection_tries.proves_reachable(one.event, injection.plan)
        ]
        return sorted(found, key=lambda one: one.entry.seq)
    if not is_of_a_page(hit):
        return [one for one in after if equivalence.same_operation(one.event, hit)]
    found = [one for one in after if _asks_for(one, felt.pages or (hit.url,))]
    if hit.resource in equivalence.SUBRESOURCES:
        found += _parts_again(story, after, hit)
    return sorted(found, key=lambda one: one.entry.seq)


def _is_followed(story: TrialEvents, injection: DeliveredInjection, asked: SeenRequest) -> bool:
    """Whether a request only follows a redirect of ours."""
    exchange = asked.event.exchange
    return exchange in injection.met and (story.status(exchange) or 0) // 100 == 3


def _asks_for(asked: SeenRequest, pages: Sequence[str]) -> bool:
    document = asked.event.resource == "document" and not equivalence.is_write(asked.event)
    return document and any(equivalence.same_page(asked.event.url, page) for page in pages)


def _parts_again(
    story: TrialEvents, after: Sequence[SeenRequest], hit: RequestSeen
) -> list[SeenRequest]:
    """Return the requests by which the page that is open brings in a part that had failed."""
    found: list[SeenRequest] = []
    for one in after:
        if one.is_page:
            break
        status = story.status(one.event.exchange)
        if equivalence.same_page(one.event.url, hit.url) and status is not None and status < 400:
            found.append(one)
    return found
