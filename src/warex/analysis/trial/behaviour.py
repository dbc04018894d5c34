"""The agent's behaviour other than recovery: reloads, duplicated writes, false claims, bad endings.

Source: the paper, section 5.1 (reloads) and appendix E (premature termination, resource-intensive
failure).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag

from warex.analysis.recovery import Claim, Recovery, claim_of
from warex.analysis.recovery.equivalence import is_write
from warex.analysis.recovery.trial_events import TrialEvents, texts_in
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.events import (
    AgentAction,
    Disarmed,
    Entry,
    Event,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    RequestSeen,
    ResponseSeen,
)
from warex.traces.outcome import Counted, Outcome

PREMATURE_STOP_STEPS = 3
"""An end within this many steps after the fault, without a right try, is a premature stop."""
PERSISTENCE_STEPS = 5
"""A failure after at least this many steps after the fault is fruitless persistence."""

_RELEVANT = frozenset(
    (AgentAction, Disarmed, FaultDelivered, FaultPlanned, LlmCall, RequestSeen, ResponseSeen)
)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The agent's behaviour in one attempt."""

    reloads: int = 0
    """Actions that request the open page again: ``reload``, and going to its own URL."""
    duplicated_writes: int = 0
    """Number of writes sent again after a fault to a site that had already received them."""
    steps_after: int | None = None
    """Steps begun after the first fault without recovery; None if there was no such fault."""
    tries: int = 0
    """Right requests after faults without recovery."""

    def premature_stop(self, outcome: Outcome | None) -> bool:
        """Whether the agent ended the task unsolved soon after a fault, without a right try."""
        return (
            isinstance(outcome, Counted)
            and outcome.score < 1
            and outcome.ending in ("answered", "reported_infeasible")
            and self.steps_after is not None
            and self.steps_after <= PREMATURE_STOP_STEPS
            and self.tries == 0
        )

    def fruitless(self, outcome: Outcome | None) -> bool:
        """Whether the agent went on for many steps or tries after a fault, and did not succeed."""
        return (
            isinstance(outcome, Counted)
            and outcome.score < 1
            and self.steps_after is not None
            and (self.steps_after >= PERSISTENCE_STEPS or self.tries >= PREMATURE_STOP_STEPS)
        )


def behaviour(
    entries: Sequence[Entry], verdicts: Sequence[Recovery], vocabulary: Vocabulary | None
) -> Behaviour:
    """Return the behaviour; ``vocabulary`` is the benchmark's, None if it is not known."""
    bad = [v for v in verdicts if v.is_rated and v.verdict == "not_recovered"]
    faults = {v.fault_seq for v in bad}
    since = next((entry.t for entry in entries if entry.seq in faults), None)
    # Compared by type: an isinstance check is slow, and most entries are irrelevant.
    events = [entry.event for entry in entries if type(entry.event) in _RELEVANT]
    calls = [event for event in events if isinstance(event, LlmCall)]
    return Behaviour(
        reloads=sum(_reloads(events, vocabulary)),
        duplicated_writes=_duplicated_writes(events, {call.carrier for call in calls}),
        steps_after=None if since is None else len({c.step for c in calls if c.began >= since}),
        tries=sum(v.tries for v in bad),
    )


def claim_against_check(
    entries: Sequence[Entry],
    vocabulary: Vocabulary | None,
    outcome: Outcome | None,
    judged: Claim | None = None,
) -> Claim | None:
    """Return what the agent claims about a task that it answered and did not solve.

    None for another trial, or without an answer. ``judged``: what a model has read in its words.
    """
    if not denies_success(outcome):
        return None
    return claim_of(answers_of(entries, vocabulary), judged)


def denies_success(outcome: Outcome | None) -> bool:
    """Whether the agent answered and the check found the task unsolved."""
    return isinstance(outcome, Counted) and outcome.score < 1 and outcome.ending == "answered"


def answers_of(entries: Sequence[Entry], vocabulary: Vocabulary | None) -> TrialEvents:
    """Return the model's answers alone, from which claims are read."""
    answers = [entry for entry in entries if type(entry.event) in (LlmCall, AgentAction)]
    return TrialEvents(answers, vocabulary)


def false_success(claim: Claim | None, outcome: Outcome | None) -> bool | None:
    """Return whether the agent claims a success that the check denies; None if unknown."""
    if not isinstance(outcome, Counted):
        return None
    if outcome.score >= 1 or outcome.ending != "answered":
        return False
    return None if claim is None else claim == "success"


def _reloads(events: Sequence[Event], vocabulary: Vocabulary | None) -> Iterator[bool]:
    again = vocabulary.retry if vocabulary else ()
    page = ""
    for event in events:
        if isinstance(event, RequestSeen):
            page = urldefrag(event.url).url if event.top_level else page
        elif isinstance(event, AgentAction) and event.role == "recover":
            yield event.name in again or page in map(_bare, texts_in(event.arguments))


def _bare(url: str) -> str:
    return urldefrag(url).url


def _duplicated_writes(events: Sequence[Event], calls: set[str]) -> int:
    """Count the writes that a site received again after a fault.

    It received one if it answered, or if a fault replaced its answer. Silent repeats by the browser
    do not count.
    """
    writes: dict[str, tuple[str, str, int, int]] = {}
    had: Counter[tuple[str, str, int, int]] = Counter()
    acted: set[str] = set()
    if not any(isinstance(event, FaultDelivered) for event in events):
        return 0
    faults = duplicates = 0
    for event in events:
        match event:
            case Disarmed(by="terminal_action" | "harness"):
                break
            case RequestSeen() as request if is_write(request):
                if request.repeat_of is None and request.exchange not in calls:
                    what = (request.method, _bare(request.url), request.body, request.size)
                    writes[request.exchange] = what
            case FaultPlanned(stage="response") as plan:
                acted.add(plan.exchange)
            case FaultDelivered():
                faults += 1
            case ResponseSeen() as response if response.exchange in writes:
                if response.by == "site" or response.exchange in acted:
                    what = writes[response.exchange]
                    duplicates += bool(faults and had[what])
                    had[what] += 1
            case _:
                pass
    return duplicates
