"""Verdicts on injections."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

type RecoveryVerdict = Literal[
    "recovered",
    "not_recovered",
    "healed_by_browser",
    "healed_by_page",
    "healed_by_client",
    "not_possible",
    "not_needed",
    "undecided",
]
"""The verdict on an injection. Only the first five count in the recovery rate.

``not_possible``: no action of the benchmark could have helped. ``not_needed``: the page came late
but complete, the changed site works as before, or the task was solved without what the fault took
away. ``undecided``: the trace does not show it.
"""

type Confidence = Literal["certain", "likely", "unknown"]
"""How sure a verdict is.

``certain``: the trace itself shows it. ``likely``: it follows from times, from what the page or the
clean trial does otherwise, or from words. ``unknown``: undecided.
"""

type LieOutcome = Literal["noticed", "worked_around", "passed_on", "not_affected"]
"""The outcome of an answer that looked healthy and was false.

``noticed``: the agent doubted it, or asked for the same again. ``worked_around``: it answered or
typed the true value. ``passed_on``: it answered or typed the false one. ``not_affected``: neither.
"""

HEALED_VERDICTS: frozenset[RecoveryVerdict] = frozenset(
    ("healed_by_browser", "healed_by_page", "healed_by_client")
)
RATED_VERDICTS: frozenset[RecoveryVerdict] = HEALED_VERDICTS | {"recovered", "not_recovered"}


@dataclass(frozen=True, slots=True)
class Recovery:
    """The verdict on one injection, with its lines of the trace."""

    injection: str
    verdict: RecoveryVerdict
    why: str
    """One sentence."""
    fault_seq: int
    """The ``fault_delivered`` event."""
    confidence: Confidence = "certain"
    call_seq: int | None = None
    """The ``llm_call`` whose action explains the right next request."""
    request_seq: int | None = None
    """The right next request."""
    seconds: float | None = None
    """From the fault to the right next request; a replayed answer counts with its original time."""
    steps: int | None = None
    tokens: int | None = None
    """Input and output tokens of the calls in between."""
    tries: int = 0
    """Number of right requests after the fault."""
    by_task: bool = False
    """Whether the task itself led to the right next request."""
    disagreement: str = ""
    """One sentence on how the model's words and the network disagree; empty if they agree."""
    needed: bool = True
    """False in a solved trial for faults without recovery, which the task did not need."""
    detected: bool | None = None
    """Whether the model's words or actions show that it noticed the fault; None if it was not asked
    afterwards."""
    detected_seq: int | None = None
    """The first ``llm_call`` that shows it."""
    lie: LieOutcome | None = None
    """The outcome of a lie; None if it is unknown, or the fault is not a lie."""
    waited: bool | None = None
    """Whether the agent waited for a used-up quota before it asked again; None if it did not ask
    again, or the fault is not a quota."""

    patience_s: float | None = None
    """Seconds from an answer that was late, silent or cut until the agent did something else than
    wait, or the rest came; None for other faults, or if unknown."""
    acted_on_half: bool | None = None
    """Whether the agent acted on such a page, or answered, before the rest came or it was loaded
    again; None if no page was partial, or its actions are not known."""

    @property
    def is_rated(self) -> bool:
        """Whether the verdict counts in the recovery rate."""
        return self.needed and self.verdict in RATED_VERDICTS


def trial_recovered(verdicts: Iterable[Recovery]) -> bool | None:
    """Return whether the agent recovered from each rated injection; None without one.

    Also None if any is undecided, unless the agent did not recover from another one.
    """
    known = list(verdicts)
    counting = [one.verdict for one in known if one.is_rated]
    if not counting:
        return None
    if any(verdict != "recovered" for verdict in counting):
        return False
    return None if any(one.verdict == "undecided" for one in known) else True


def lies_in(verdicts: Iterable[Recovery]) -> tuple[tuple[str, int], ...]:
    """Count the outcomes of lies."""
    return tuple(sorted(Counter(one.lie for one in verdicts if one.lie).items()))
