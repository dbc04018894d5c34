"""The events of one trial, in the form that verdicts need."""

import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from pydantic import JsonValue

from warex.analysis.recovery import connection_tries, equivalence
from warex.analysis.recovery.clients import by_program
from warex.analysis.recovery.script_acts import foreign_acts
from warex.analysis.recovery.twin import Twin
from warex.effects import effects_with
from warex.llm.actions.code_blocks import code_in_text, code_in_tool_call, read_code
from warex.llm.actions.guess import defined_by_answer, guess_actions, recorded_calls
from warex.llm.actions.name_heuristics import ActionKind, action_kind_with_arguments
from warex.llm.actions.python_code import NOTHING_DEFINED, Definitions
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.events import (
    AgentAction,
    Disarmed,
    Entry,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    TrialEnded,
    WebSocketSeen,
    Witness,
)

KEEPS_ANSWER: frozenset[str] = effects_with(lambda traits: traits.keeps_response)
"""Effects that keep the answer complete."""
_LOCATION = r"(?:[\w.]*\bpage\.url|[\w.]*\bcurrent_url|(?:\w+\.)*location(?:\.href)?)"
_OPEN_PAGE = re.compile(rf"{_LOCATION}(?:\(\))?")
"""What code calls the address of the open page."""
_RELOADS = re.compile(
    rf"\blocation\.reload\(|\bhistory\.go\(0?\)|\blocation(?:\.href)?\s*=\s*{_LOCATION}"
    r"|\bPage\.reload\b"
)
"""Scripts and commands that load the open page again."""
_URL = re.compile(r"https?://[^\s\"'`<>|\\]+")
_PATH_TEXT = re.compile(r"[\"'`]((?:https?:/)?/[^\s\"'`\\]+)\\?[\"'`]")
_FENCED = re.compile(
    r"```.*?(?:```|\Z)"
    r"|<(\w*(?:action|tool|code|execute|python|invoke|function|command)\w*)\b.*?(?:</\1>|\Z)",
    re.DOTALL,
)
"""Code and commands in a text."""
_REPEATS = re.compile(
    r"\bfor\b|\bwhile\b|\buntil\b|\bexcept\b|\bcatch\b|retry|retries", re.IGNORECASE
)
"""What code has that asks again by itself: a loop, a handler, a retrying client."""
_BUILTINS = frozenset(dir(builtins))
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


def urls_in(text: str) -> Iterator[str]:
    """Yield the HTTP addresses in a text."""
    return (match[0].rstrip(").,;]}") for match in _URL.finditer(text))


@dataclass(frozen=True, slots=True)
class ModelAction:
    """One action that the model chose."""

    name: str
    does: ActionKind
    arguments: JsonValue
    context: str = ""
    """Where it stands in the model's code: in a loop, in what handles an error."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments that are texts."""
        return texts_in(self.arguments)

    @property
    def all_texts(self) -> tuple[str, ...]:
        """The texts in its arguments at any depth."""
        texts: list[str] = []
        left: list[JsonValue] = [self.arguments]
        while left:
            match left.pop():
                case str() as text:
                    texts.append(text)
                case list() as values:
                    left += reversed(values)
                case dict() as values:
                    left += reversed(values.values())
                case _:
                    pass
        return tuple(texts)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call to the model."""

    seq: int
    event: LlmCall
    actions: tuple[ModelAction, ...]
    defined: Definitions = NOTHING_DEFINED
    """What earlier answers have defined in the agent's interpreter."""

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
        return "\n".join((self.event.answer, *map(" ".join, self._client_calls())))

    @property
    def is_command(self) -> bool:
        """Whether the answer holds a tool call or code, read or not."""
        return bool(any(self._client_calls()) or _FENCED.search(self.event.answer))

    def addresses(self) -> Iterator[tuple[str, str]]:
        """Yield the tool, or ``code``, and each address that is given to it."""
        for name, arguments in self._client_calls():
            yield from ((name, url) for url in urls_in(arguments))
        for code in _FENCED.finditer(self.event.answer):
            yield from (("code", url) for url in urls_in(code[0]))

    def quoted_paths(self) -> Iterator[str]:
        """Yield each address and path that its code holds as a text."""
        parts = [code[0] for code in _FENCED.finditer(self.event.answer)]
        parts += [arguments for _, arguments in self._client_calls()]
        return (match[1] for part in parts for match in _PATH_TEXT.finditer(part))

    @property
    def repeats_in_code(self) -> bool:
        """Whether its code holds a loop, a handler of errors or a client that asks again."""
        parts = [code[0] for code in _FENCED.finditer(self.event.answer)]
        parts += [arguments for _, arguments in self._client_calls()]
        return any(_REPEATS.search(part) for part in parts)

    @property
    def only_computes(self) -> bool:
        """Whether its code could be read and calls nothing that may be an action."""
        calls = recorded_calls(self.event.tool_calls)
        pieces = [code for call in calls if (code := code_in_tool_call(call))]
        if len(pieces) < len(calls):
            return False
        read = read_code(pieces or code_in_text(self.event.answer), self.defined)
        return read is not None and all(
            not call.is_command and (call.receiver or call.name in _BUILTINS) for call in read
        )

    def ends_agent(self, reads_actions: bool) -> bool:
        """Whether the last answer of a trial can only be the end of the agent's work."""
        if any(act.does == "finish" for act in self.actions):
            return True
        complete = self.event.error is None and self.event.complete and bool(self.event.answer)
        return reads_actions and complete and not self.actions and not self.is_command

    def _client_calls(self) -> Iterator[tuple[str, str]]:
        for call in self.event.tool_calls:
            if isinstance(call, dict) and not call.get("by_server"):
                yield str(call.get("name")), str(call.get("arguments"))


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
    detail: str = ""


class TrialEvents:
    """The requests, answers and calls of one trial.

    ``requests`` are those of the agent's browser, without calls to the model. Requests after the
    agent's end are included for some seconds, since its last answer may hold several actions.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        vocabulary: Vocabulary | None,
        twin: Twin | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.twin = twin
        """The clean trial of the same task; None if there is none."""
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
        """Second at which the agent gave its last answer; infinite if nothing shows it."""
        self._status: dict[str, tuple[int | None, float]] = {}
        self._brought: set[str] = set()
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
                    if (response.status or 400) // 100 == 2 and response.size:
                        self._brought.add(response.exchange)
                case WebSocketSeen(from_client=False, what="message" | "opaque") as message:
                    self._brought.add(message.exchange)
                case FaultDelivered() as done:
                    self.hit.add(done.exchange)
                    if done.injection not in late:
                        self.altered.add(done.exchange)
                case Witness() as seen if entry.t <= self.ended + _GRACE_S:
                    reports = self.foreign_reports if entry.seq in foreign else self.reports
                    reports.setdefault(seen.injection, []).append(
                        PageReport(entry.t, seen.what, seen.detail)
                    )
                case TrialEnded():
                    self.ended = min(self.ended, entry.t)
                case LlmCall() as call:
                    calls.append((entry, call))
                case AgentAction() as action:
                    actions.setdefault(action.exchange, []).append(action)
                case _:
                    pass
        asked = {call.carrier for _, call in calls}
        self.requests = [one for one in self.requests if one.event.exchange not in asked]
        self.calls: list[ModelCall] = []
        defined = NOTHING_DEFINED
        for entry, call in calls:
            acts = _acts(call, actions.get(call.exchange, ()), vocabulary, defined)
            self.calls.append(ModelCall(entry.seq, call, tuple(acts), defined))
            if call.error is None and call.complete:
                defined = defined_by_answer(call.answer, recorded_calls(call.tool_calls), defined)
        self.reads_actions = any(
            act.does != "finish" for call in self.calls for act in call.actions
        )
        """Whether an action that could lead to a request was read anywhere."""
        self.acts_by_commands = any(
            call.is_command and act.does != "finish" for call in self.calls for act in call.actions
        )
        """Whether one was read in a tool call or in code."""
        if self.calls and (last := self.calls[-1]).ends_agent(self.reads_actions):
            self.ended = min(self.ended, last.answered)

    def call_of(self, exchange: str) -> ModelCall | None:
        """Return the call to the model that an exchange carries; None if it carries none."""
        return next((call for call in self.calls if call.event.exchange == exchange), None)

    def status(self, exchange: str) -> int | None:
        """Return the status of an exchange's answer; None without an answer."""
        return self._status.get(exchange, (None, 0.0))[0]

    def brought_data(self, exchange: str) -> bool:
        """Whether a WebSocket or a stream has brought something; True where it is unread."""
        return exchange in self._brought

    def failed_at(self, asked: SeenRequest) -> float:
        """Return the second at which a request ended."""
        return self._status.get(asked.event.exchange, (None, asked.t))[1]

    def calls_between(self, start: float, end: float) -> list[ModelCall]:
        """Return the calls begun after ``start`` and answered before ``end``."""
        return [one for one in self.calls if one.began >= start and one.answered <= end]

    def landings(self, url: str) -> Iterator[str]:
        """Yield where an address of a page or a program redirects, here or in the twin."""
        followed = (one for one in self.requests if one.is_page or by_program(one.event))
        for one, after in pairwise(followed):
            exchange = one.event.exchange
            is_redirected = (self.status(exchange) or 0) // 100 == 3 and exchange not in self.hit
            if is_redirected and equivalence.same_page(one.event.url, url):
                yield after.event.url
        if self.twin is not None:
            yield from self.twin.landings(url)

    def pages(self, start: float, end: float) -> Iterator[SeenRequest]:
        """Yield the requests for pages from ``start`` until just before ``end``."""
        return (one for one in self.requests if one.is_page and start <= one.t < end)

    def is_unread(self, call: ModelCall) -> bool:
        """Whether an answer may hold an action that could not be read.

        Words without a tool call or code are one, unless the agent acts by those, or they end it.
        """
        if call.actions or call.answered >= self.ended:
            return False
        return not call.only_computes if call.is_command else not self.acts_by_commands


def _acts(
    call: LlmCall,
    read: Sequence[AgentAction],
    vocabulary: Vocabulary | None,
    defined: Definitions,
) -> Iterator[ModelAction]:
    """Yield the actions of an answer, read by the vocabulary or else by their names."""
    known = [
        ModelAction(action.name, _does(action, vocabulary), action.arguments) for action in read
    ]
    if call.error is None and call.complete:
        # Unknown names come first: their order is not known, and after the end they are useless.
        yield from _unknown(call, vocabulary.names if vocabulary and known else (), defined)
    yield from known


def _unknown(call: LlmCall, known: Collection[str], defined: Definitions) -> Iterator[ModelAction]:
    for guess in guess_actions(call.answer, recorded_calls(call.tool_calls), known, defined):
        passed = guess.arguments
        arguments: JsonValue = list(passed) if isinstance(passed, tuple) else dict(passed)
        kind = _kind(guess.name, arguments) or "look"
        yield ModelAction(guess.name, kind, arguments, guess.context)


def _kind(name: str, arguments: JsonValue) -> ActionKind | None:
    """Return what an action does; going to the open page's own address loads it again."""
    kind = action_kind_with_arguments(name, arguments)
    texts = texts_in(arguments)
    if any(_RELOADS.search(text) for text in texts):
        return "reload"
    # ``frame.src = frame.src`` loads the frame again.
    own_address = name in texts or any(map(_OPEN_PAGE.fullmatch, texts))
    return "reload" if kind == "goto" and own_address else kind


def _does(action: AgentAction, vocabulary: Vocabulary | None) -> ActionKind:
    if vocabulary and action.name in vocabulary.noop:
        return "wait"
    if vocabulary and action.name in vocabulary.retry:
        return "reload"
    if action.role == "finish":
        return "finish"
    # An action with an unknown name may still lead to a page or send a form.
    return _kind(action.name, action.arguments) or "click"
