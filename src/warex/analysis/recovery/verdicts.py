"""What became of an injection, as far as the agent had a part in it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

type RecoveryVerdict = Literal[
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
but whole, the site was changed and works as before, or the task was solved without what the fault
took away. ``undecided``: the trace cannot
say.
"""

type LieOutcome = Literal["noticed", "worked_around", "passed_on", "not_affected"]
"""What became of an answer that looked healthy and was not true.

``noticed``: the agent doubted it, or asked for the same again. ``worked_around``: it answered or
typed the true value. ``passed_on``: it answered or typed the false one. ``not_affected``: neither
of the two.
"""

HEALED_VERDICTS: frozenset[RecoveryVerdict] = frozenset(("healed_by_browser", "healed_by_page"))
RATED_VERDICTS: frozenset[RecoveryVerdict] = HEALED_VERDICTS | {"recovered", "not_recovered"}


@dataclass(frozen=True, slots=True)
class Recovery:
    """The verdict on one injection, and the lines of the trace that it rests on."""

    injection: str
    verdict: RecoveryVerdict
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
    needed: bool = True
    """False in a solved trial for all but what the agent recovered from: the rest did not stand
    between it and the task."""
    detected: bool | None = None
    """Whether words or actions of the model show that it noticed the fault; None if it was not
    asked afterwards."""
    detected_seq: int | None = None
    """The first ``llm_call`` that shows it."""
    lie: LieOutcome | None = None
    """Of a lie what became of it; None where that is unknown, or the fault is none."""
    waited: bool | None = None
    """Of a quota that was used up whether the agent asked again only when it was open; None where
    it asked for nothing again, or the fault is another."""

    @property
    def is_rated(self) -> bool:
        """Whether the verdict stands in the recovery rate."""
        return self.needed and self.verdict in RATED_VERDICTS


def trial_recovered(verdicts: Iterable[Recovery]) -> bool | None:
    """Say whether the agent recovered from each injection it had to; None if that was none.

    One that nobody can judge leaves the trial without an answer, unless another was not recovered
    from.
    """
    known = list(verdicts)
    counting = [one.verdict for one in known if one.is_rated]
    if not counting:
        return None
    if any(verdict != "recovered" for verdict in counting):
        return False
    return None if any(one.verdict == "undecided" for one in known) else True


def lies_in(verdicts: Iterable[Recovery]) -> tuple[tuple[str, int], ...]:
    """Count what became of lies."""
    return tuple(sorted(Counter(one.lie for one in verdicts if one.lie).items()))
