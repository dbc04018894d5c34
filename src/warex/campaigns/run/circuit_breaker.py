"""Voids in a row: no bad luck but something that will not pass by itself."""

import re
from dataclasses import dataclass, field

from warex.errors import MAX_DEATHS_IN_A_ROW, WarexError
from warex.traces import Outcome, Void

MAX_SAME_REASON = 5
"""After so many for one reason the campaign stops."""

_VARIES = re.compile(r"\d+|/\S+")


class CampaignStopped(WarexError):
    """Trial after trial is void; the message says why."""

    exit_code = 3


@dataclass(slots=True)
class CircuitBreaker:
    """Counts them: those for one reason, and those in which a process of ours was ended.

    The conditions of one task run side by side, so a task that is broken by itself voids several
    trials in a row: where there are more tasks, a second one must be hit, too.
    """

    tasks: int
    """How many different tasks there are to run."""
    _reason: str = ""
    _length: int = 0
    _hit: set[str] = field(default_factory=set)
    _deaths: int = 0

    def record(self, task: str, outcome: Outcome) -> None:
        """Count an attempt's outcome; raise CampaignStopped where it was one too many."""
        self._deaths = self._deaths + 1 if isinstance(outcome, Void) and outcome.died else 0
        if not isinstance(outcome, Void):
            self._reason = ""
            return
        if self._deaths >= MAX_DEATHS_IN_A_ROW:
            raise CampaignStopped(
                f"{self._deaths} trials in a row are void since a process of WAREX's own was ended,"
                f" so the campaign stops. The last: {outcome.reason}\nLook whether memory runs out"
                " (dmesg), or who ends processes here; then go on with --resume, perhaps with fewer"
                " --jobs."
            )
        # Ports and paths differ from trial to trial, the reason does not.
        reason = _VARIES.sub("…", outcome.reason)
        if reason != self._reason:
            self._reason, self._length, self._hit = reason, 0, set()
        self._length += 1
        self._hit.add(task)
        if self._length >= MAX_SAME_REASON and len(self._hit) >= min(2, self.tasks):
            raise CampaignStopped(
                f"{self._length} trials in a row are void for one reason, so the campaign stops:"
                f" {outcome.reason}\nWhen that is mended, go on with --resume."
            )
