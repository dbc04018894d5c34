"""What the agent requests in the clean trial of the same task, its twin.

What the twin requests again at the same point, the task needs anyhow: to request it under a fault
is not recovery.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.clients import by_program
from warex.llm.actions.guess import guess_actions, kind_of_action, recorded_calls
from warex.llm.actions.name_heuristics import ActionKind
from warex.traces.events import Disarmed, Entry, LlmCall, RequestSeen, ResponseSeen

AT_ONCE = 1.0
"""Seconds within which the requests of one action follow each other, in any order."""


@dataclass(frozen=True, slots=True)
class TwinRequest:
    """A request of the clean trial, without the parts of pages."""

    t: float
    event: RequestSeen
    status: int | None

    @property
    def is_page(self) -> bool:
        """Whether it requests the document of a tab."""
        return self.event.resource == "document" and self.event.top_level

    @property
    def is_redirected(self) -> bool:
        """Whether it was answered with a redirect and asked for nothing but where that leads."""
        return is_redirect(self.event, self.status)


class Twin:
    """The clean trial of the same agent, task and repeat."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._acted: list[float] = []
        """When the model answered with more than to wait or to look."""
        requests: dict[str, tuple[float, RequestSeen]] = {}
        status: dict[str, int | None] = {}
        carriers: set[str] = set()
        finished_at = inf
        for entry in entries:
            match entry.event:
                case Disarmed(by="terminal_action" | "harness"):
                    break
                case RequestSeen() as request if request.resource not in equivalence.SUBRESOURCES:
                    if request.repeat_of is None:
                        requests[request.exchange] = entry.t, request
                case ResponseSeen() as response:
                    status[response.exchange] = response.status
                case LlmCall() as call:
                    carriers.add(call.carrier)
                    answered = call.began + call.latency_s
                    kinds = _kinds_of_actions(call)
                    finished_at = answered if "finish" in kinds else inf
                    if not kinds or not set(kinds) <= {"wait", "look"}:
                        self._acted.append(answered)
                case _:
                    pass
        self._acted.sort()
        self.requests = tuple(
            TwinRequest(t, request, status.get(exchange))
            for exchange, (t, request) in requests.items()
            # What comes after the model's last word, as a judge's look, is not the agent's.
            if exchange not in carriers and t < finished_at
        )

    def opens(self, page: RequestSeen) -> bool:
        """Whether the twin requests a page, also by a script."""
        return any(
            one.event.method == page.method and equivalence.same_page(one.event.url, page.url)
            for one in self.requests
        )

    def landings(self, url: str) -> tuple[str, ...]:
        """Return the addresses to which an address of a page or a program redirects here."""
        pages = [one for one in self.requests if one.is_page or by_program(one.event)]
        return tuple(
            after.event.url
            for one, after in pairwise(pages)
            if one.is_redirected and equivalence.same_page(one.event.url, url)
        )

    def repeats(
        self, asked: RequestSeen, number: int, *, same_body: bool = False
    ) -> "Repeat | None":
        """Return how the twin makes a request again after the ``number``-th time, from 0.

        None if it does not, with ``same_body`` also if it sends another body then. Redirected
        requests are not counted.
        """
        same = [
            place
            for place, one in enumerate(self.requests)
            if same_request(one.event, asked) and not one.is_redirected
        ]
        if number + 1 >= len(same):
            return None
        first, again = same[number], same[number + 1]
        if same_body and self.requests[first].event.body != self.requests[again].event.body:
            return None
        times = self.requests[first].t, self.requests[again].t
        earlier = [one.event for one in self.requests if one.t < times[0] + AT_ONCE]
        steps = tuple(
            one.event
            for one in self.requests[first + 1 : again]
            if not same_request(one.event, asked)
            and (one.is_page or not any(same_request(one.event, it) for it in earlier))
        )
        acted = bisect_right(self._acted, times[1]) - bisect_right(self._acted, times[0])
        return Repeat(steps, model_acted=acted > 0)


@dataclass(frozen=True, slots=True)
class Repeat:
    """The way of the twin from one request to the same one again."""

    steps: tuple[RequestSeen, ...]
    """The pages in between, and the writes and operations that are new there."""
    model_acted: bool
    """Whether an action of the model can have led to it, and not only the page itself."""

    def is_taken_by(self, path: Sequence[RequestSeen]) -> bool:
        """Whether a trial has made the same requests on its way."""
        return all(any(same_request(mine, step) for mine in path) for step in self.steps)


def is_redirect(request: RequestSeen, status: int | None) -> bool:
    """Whether a request was only redirected; a write is carried out before."""
    return (status or 0) // 100 == 3 and not equivalence.is_write(request)


def _kinds_of_actions(call: LlmCall) -> list[ActionKind | None]:
    """Return the kinds of an answer's actions, as far as they can be read."""
    acts = guess_actions(call.answer, recorded_calls(call.tool_calls))
    return [kind_of_action(act) for act in acts]


def same_request(one: RequestSeen, other: RequestSeen) -> bool:
    """Whether two requests are for the same page or the same operation."""
    if equivalence.is_write(one) != equivalence.is_write(other):
        return False
    if "document" in (one.resource, other.resource) and not equivalence.is_write(one):
        # A page that fetches another one in advance does not open it.
        is_same_kind = one.resource == other.resource
        return is_same_kind and equivalence.same_page(one.url, other.url)
    return equivalence.same_operation(one, other)
