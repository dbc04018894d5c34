"""What an oracle is asked: an agent's whole trajectory, for the action in each of its states."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from warex.analysis.recovery.equivalence import is_write
from warex.analysis.recovery.trial_events import ModelAction, ModelCall, TrialEvents, texts_in
from warex.exports.chat import chat
from warex.exports.rows import ChatMessage
from warex.llm.actions.base import Action
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer
from warex.traces.events import Entry

type Oracle = Callable[[Sequence["TakenStep"]], Sequence[str | None]]
"""Returns the wanted action in the state before each step; None where it is not known."""


@dataclass(frozen=True, slots=True)
class TakenStep:
    """One step of an agent: what it was shown, and what it did."""

    seq: int
    """Number of its call in the trace."""
    prompt: Sequence[ChatMessage]
    action: str
    """Name of its first action; empty for an answer without one."""
    arguments: tuple[str, ...]
    """Those that are texts."""
    writes: bool
    """Whether it led to a request that may change the site."""


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """An answer in place of the agent's own: its action alone."""

    text: str
    action: Action

    @property
    def message(self) -> ChatMessage:
        """The answer as the assistant's message."""
        return {"role": "assistant", "content": self.text}

    @property
    def texts(self) -> tuple[str, ...]:
        """The arguments of the action that are texts."""
        arguments = self.action.arguments
        return texts_in(dict(arguments) if isinstance(arguments, Mapping) else list(arguments))

    def is_own(self, act: ModelAction) -> bool:
        """Whether the agent has chosen the same action."""
        return (self.action.name, self.texts) == (act.name, act.texts)


def oracle_answers(
    oracle: Oracle, entries: Sequence[Entry], vocabulary: Vocabulary
) -> dict[int, OracleAnswer]:
    """Return the oracle's answers in a trial, by the number of the agent's call in the trace.

    Calls are left out where the oracle has no action, or one that the agent does not have.
    """
    taken = list(_taken_steps(TrialEvents(entries, vocabulary)))
    answers: dict[int, OracleAnswer] = {}
    for step, wanted in zip(taken, oracle(taken), strict=True):
        if wanted is not None:
            text = LlmAnswer("", text=wanted, complete=True)
            for action in parse_actions(text, vocabulary)[:1]:
                answers[step.seq] = OracleAnswer(wanted, action)
    return answers


def _taken_steps(story: TrialEvents) -> Iterator[TakenStep]:
    """Yield the steps of a trial, each with its last call."""
    last: dict[int | None, ModelCall] = {}
    for call in story.calls:
        if call.event.complete and call.event.error is None:
            last[call.event.step] = call
    writes = [request.t for request in story.requests if is_write(request.event)]
    calls = list(last.values())
    ends = [*(call.began for call in calls[1:]), story.ended]
    for call, until in zip(calls, ends, strict=False):
        first = call.actions[0] if call.actions else None
        yield TakenStep(
            seq=call.seq,
            prompt=chat(call.event)[:-1],
            action=first.name if first else "",
            arguments=first.texts if first else (),
            writes=any(call.answered <= t <= until for t in writes),
        )
