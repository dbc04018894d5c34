"""The events of one trial, in the form that verdicts need."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from pydantic import JsonValue

from warex.analysis.recovery import connection_tries
from warex.analysis.recovery.script_acts import foreign_acts
from warex.effects import effects_with
from warex.llm.actions.guess import guess_actions, recorded_calls
from warex.llm.actions.name_heuristics import ActionKind, action_kind_with_arguments
from warex.llm.actions.parser import Vocabulary
from warex.traces.events import (
    AgentAction,
    Disarmed,
    Entry,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    Witness,
)

KEEPS_ANSWER: frozenset[str] = effects_with(lambda traits: traits.keeps_response)
"""Effects that keep the answer complete."""
_GRACE_S = 10.0
"""Seconds in which the actions of the agent's last answer are carried out. Later requests are the
benchmark's."""


def argument_values(arguments: JsonValue) -> list[JsonValue]:
    """Return the values of an action's arguments, which may have names."""
    values = list(arguments.values()) if isinstance(arguments, dict) else arguments
    return values if isinstance(values, list) else [values]


def texts_in(arguments: JsonValue) -> tuple[str, ...]:
    """Return the texts among an action's arguments, without quotation marks."""
    values = argument_values(arguments)
    return tuple(value.strip("'\" ") for value in values if isinstance(value, str))


@dataclass(frozen=True, slots=True)
class ModelAction:
    """One action that the model chose."""

    name: str
    does: ActionKind
    arguments: JsonValue

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments that are texts."""
        return texts_in(self.arguments)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call to the model."""

    seq: int
    event: LlmCall
    actions: tuple[ModelAction, ...]

    @property
    def began(self) -> float:
        """Second of the trial at which the model was asked."""
        return self.event.began

    @property
    def answered(self) -> float:
        """Second of the trial at which its answer was complete."""
        return self.event.began + self.event.latency_s

    @property
    def text(self) -> str:
        """The text of the answer and its tool calls."""
        calls = (f"{call.get('name')} {call.get('arguments')}" for call in self.event.tool_calls)
        return "\n".join((self.event.answer, *calls))


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """One request."""

    entry: Entry
    event: RequestSeen
    is_connection_try: bool = False
    """Whether it is a failed connection try, of which only the destination is known."""

    @property
    def t(self) -> float:
        """Second of the trial."""
        return self.entry.t

    @property
    def is_page(self) -> bool:
        """Whether it requests the document of a tab."""
        return self.event.resource == "document" and self.event.top_level


@dataclass(frozen=True, slots=True)
class PageReport:
    """A report by a changed page."""

    t: float
    what: str


class TrialEvents:
    """The requests, answers and calls of one trial.

    ``requests`` are those of the agent's browser, without calls to the model. Requests after the
    agent's end are included for some seconds, since its last answer may hold several actions.
    """

    def __init__(self, entries: Sequence[Entry], vocabulary: Vocabulary | None) -> None:
        self.vocabulary = vocabulary
        self.requests: list[SeenRequest] = []
        self.connection_tries: list[SeenRequest] = []
        """Connection tries that a fault hit."""
        self.hit: set[str] = set()
        self.altered: set[str] = set()
        """Exchanges hit by more than a delay: their answers are not the site's, or incomplete."""
        self.reports: dict[str, list[PageReport]] = {}
        """Reports by changed pages, by injection, without acts that are not the agent's."""
        self.foreign_reports: dict[str, list[PageReport]] = {}
        """The acts of scripts that are not the agent's."""
        self.ended: float = inf
        """Second at which the agent gave its last answer."""
        self._status: dict[str, tuple[int | None, float]] = {}
        calls: list[tuple[Entry, LlmCall]] = []
        actions: dict[str, list[AgentAction]] = {}
        late: set[str] = set()
        foreign = set(foreign_acts(entries))
        for entry in entries:
            match entry.event:
                case Disarmed(by="terminal_action" | "harness"):
                    self.ended = min(self.ended, entry.t)
                case RequestSeen() as request if entry.t <= self.ended + _GRACE_S:
                    self.requests.append(SeenRequest(entry, request))
                case FaultPlanned() as plan if hit := connection_tries.request_of_try(plan):
                    self.connection_tries.append(SeenRequest(entry, hit, is_connection_try=True))
                case FaultPlanned() as plan:
                    late |= {plan.injection} if set(plan.effects) <= KEEPS_ANSWER else set()
                case ResponseSeen() as response:
                    self._status[response.exchange] = response.status, entry.t
                case FaultDelivered() as done:
                    self.hit.add(done.exchange)
                    if done.injection not in late:
                        self.altered.add(done.exchange)
                case Witness() as seen if entry.t <= self.ended + _GRACE_S:
                    found = self.foreign_reports if entry.seq in foreign else self.reports
                    found.setdefault(seen.injection, []).append(PageReport(entry.t, seen.what))
                case LlmCall() as call:
                    calls.append((entry, call))
                case AgentAction() as action:
                    actions.setdefault(action.exchange, []).append(action)
                case _:
                    pass
        asked = {call.carrier for _, call in calls}
        self.requests = [one for one in self.requests if one.event.exchange not in asked]
        self.calls = [
            ModelCall(
                entry.seq, call, tuple(_acts(call, actions.get(call.exchange, ()), vocabulary))
            )
            for entry, call in calls
        ]

    def call_of(self, exchange: str) -> ModelCall | None:
        """Return the call to the model that an exchange carries; None if it carries none."""
        return next((call for call in self.calls if call.event.exchange == exchange), None)

    def status(self, exchange: str) -> int | None:
        """Return the status of an exchange's answer; None without an answer."""
        return self._status.get(exchange, (None, 0.0))[0]

    def failed_at(self, asked: SeenRequest) -> float:
        """Return the second at which a request ended."""
        return self._status.get(asked.event.exchange, (None, asked.t))[1]

    def calls_between(self, start: float, end: float) -> list[ModelCall]:
        """Return the calls begun after ``start`` and answered before ``end``."""
        return [one for one in self.calls if one.began >= start and one.answered <= end]

    def pages(self, start: float, end: float) -> Iterator[SeenRequest]:
        """Yield the requests for pages from ``start`` until just before ``end``."""
        return (one for one in self.requests if one.is_page and start <= one.t < end)

    @property
    def reads_actions(self) -> bool:
        """Whether any action of the agent could be read."""
        return any(call.actions for call in self.calls)


def _acts(
    call: LlmCall, read: Sequence[AgentAction], vocabulary: Vocabulary | None
) -> Iterator[ModelAction]:
    """Yield the actions of an answer, read by the vocabulary or else by their names."""
    known = [
        ModelAction(action.name, _does(action, vocabulary), action.arguments) for action in read
    ]
    if call.error is None and call.complete:
        # Unknown names come first: their order is not known, and after the end they are useless.
        yield from _unknown(call, vocabulary.names if vocabulary and known else ())
    yield from known


def _unknown(call: LlmCall, known: Collection[str]) -> Iterator[ModelAction]:
    for found in guess_actions(call.answer, recorded_calls(call.tool_calls), known):
        given = found.arguments
        arguments: JsonValue = list(given) if isinstance(given, tuple) else dict(given)
        yield ModelAction(
            found.name, action_kind_with_arguments(found.name, arguments) or "look", arguments
        )


def _does(action: AgentAction, vocabulary: Vocabulary | None) -> ActionKind:
    if vocabulary and action.name in vocabulary.noop:
        return "wait"
    if vocabulary and action.name in vocabulary.retry:
        return "reload"
    if action.role == "finish":
        return "finish"
    # An action with an unknown name may still lead to a page or send a form.
    return action_kind_with_arguments(action.name, action.arguments) or "click"
