"""The path of a trial: each step of its agent, what was requested after it, and the faults."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from warex.analysis.recovery.twin import Twin, same_request
from warex.analysis.steps.elements import element_labels, element_name, has_id, with_labels
from warex.analysis.steps.model_steps import ModelStep, steps
from warex.text.lazy_pattern import lazy_re
from warex.traces.events import Entry, FaultDelivered, FaultPlanned, LlmCall, RequestSeen

_LOOPBACK_PORT = lazy_re(r"\b((?:127\.\d+\.\d+\.\d+|localhost|\[::1\])):\d+")


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step: one answer of the model; without a model, one request."""

    number: int
    """From 1."""
    seq: int
    """Its line of the trace."""
    t: float
    """Second of the trial at which the answer was there; without a model, of the request."""
    actions: tuple[str, ...]
    """As the agent wrote them; empty if none could be read."""
    answer: str
    requests: tuple[RequestSeen, ...] = ()
    """The pages, writes and calls of programs that followed, without parts of pages."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of the prompt's elements by their ids; empty if prompts were not read."""

    def element_name(self, action: str) -> str:
        """Return the description of the element that an action names; empty if unknown."""
        return element_name(action, self.labels)

    def does_the_same_as(self, other: "PathStep") -> bool:
        """Whether both do the same: the same actions, on elements of the same description.

        Actions of the same names are also the same if the same requests follow. Steps without
        readable actions are compared by their requests, and without any by their texts.
        """
        if self.actions and other.actions:
            is_explained = bool(self.labels and other.labels)
            return self._meaning(is_explained) == other._meaning(is_explained) or (
                _names(self.actions) == _names(other.actions) and self._requests_as(other)
            )
        if self.actions or other.actions:
            return False
        if self.requests or other.requests:
            return self._requests_as(other)
        return self.answer.split() == other.answer.split()

    @property
    def names_elements(self) -> bool:
        """Whether an action names an element by an id, which a prompt explains."""
        return any(map(has_id, self.actions))

    def _meaning(self, is_explained: bool) -> tuple[str, ...]:
        labels = self.labels if is_explained else {}
        return tuple(
            " ".join(_LOOPBACK_PORT.sub(r"\1", with_labels(action, labels)).split())
            for action in self.actions
        )

    def _requests_as(self, other: "PathStep") -> bool:
        mine, theirs = _without_repeats(self.requests), _without_repeats(other.requests)
        return 0 < len(mine) == len(theirs) and all(map(same_request, mine, theirs))


@dataclass(frozen=True, slots=True)
class PathFault:
    """A delivered injection."""

    injection: str
    kind: str
    url: str
    t: float
    """Second of the trial at which it was planned."""
    changes_page: bool
    """Whether it changes the site's own page, so that its elements may have other ids."""


@dataclass(frozen=True, slots=True)
class TrialPath:
    """What the agent of one trial did."""

    steps: tuple[PathStep, ...]
    faults: tuple[PathFault, ...]


def trial_path(entries: Iterable[Entry]) -> TrialPath:
    """Return the path of a trial.

    From lean entries it has no descriptions of elements (see ``read_trace``).
    """
    entries = tuple(entries)
    requests = [(one.t, one.event) for one in Twin(entries).requests]
    calls = {e.seq: e.event for e in entries if isinstance(e.event, LlmCall)}
    own = _by_number(steps(entries))
    path = (
        _of_model(own, calls, requests)
        if own
        else tuple(_of_request(n, entry) for n, entry in enumerate(_pages(entries), 1))
    )
    return TrialPath(path, _faults(entries))


def _by_number(calls: Iterable[ModelStep]) -> list[ModelStep]:
    """Return one call for each step: the last that was answered, or the last."""
    chosen: dict[int, ModelStep] = {}
    for call in calls:
        before = chosen.get(call.number)
        if before is None or call.is_answered or not before.is_answered:
            chosen[call.number] = call
    return list(chosen.values())


def _of_model(
    own: Sequence[ModelStep],
    calls: Mapping[int, LlmCall],
    requests: Sequence[tuple[float, RequestSeen]],
) -> tuple[PathStep, ...]:
    own = sorted(own, key=lambda step: _answered(calls[step.seq]))
    answered = [_answered(calls[step.seq]) for step in own]
    following: list[list[RequestSeen]] = [[] for _ in own]
    for t, request in requests:
        if place := bisect_right(answered, t):
            following[place - 1].append(request)
    return tuple(
        PathStep(
            number=step.number,
            seq=step.seq,
            t=t,
            actions=step.actions,
            answer=step.answer,
            requests=tuple(after),
            labels=element_labels(calls[step.seq].messages),
        )
        for step, t, after in zip(own, answered, following, strict=True)
    )


def _answered(call: LlmCall) -> float:
    return call.began + call.latency_s


def _pages(entries: Sequence[Entry]) -> list[Entry]:
    seen = {one.event.exchange for one in Twin(entries).requests}
    return [e for e in entries if isinstance(e.event, RequestSeen) and e.event.exchange in seen]


def _of_request(number: int, entry: Entry) -> PathStep:
    request = entry.event
    assert isinstance(request, RequestSeen)
    action = f"{request.method} {request.url}"
    return PathStep(number, entry.seq, entry.t, (action,), "", (request,))


def _faults(entries: Iterable[Entry]) -> tuple[PathFault, ...]:
    planned: dict[str, PathFault] = {}
    delivered: set[str] = set()
    for entry in entries:
        match entry.event:
            case FaultPlanned() as plan:
                kind = str(plan.fault.get("kind", "fault"))
                planned[plan.injection] = PathFault(
                    plan.injection, kind, plan.url, entry.t, "rewrite" in plan.effects
                )
            case FaultDelivered(injection=injection):
                delivered.add(injection)
            case _:
                pass
    return tuple(fault for name, fault in planned.items() if name in delivered)


def _without_repeats(requests: Sequence[RequestSeen]) -> list[RequestSeen]:
    """Return the requests without those that repeat the one before: a client tries again itself."""
    return [
        request
        for before, request in zip((None, *requests), requests, strict=False)
        if before is None or not same_request(before, request)
    ]


def _names(actions: Iterable[str]) -> list[str]:
    return [action.partition("(")[0] for action in actions]
