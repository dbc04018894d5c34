"""Voids in a row for one reason: no bad luck but something that will not pass by itself."""

import re
from dataclasses import dataclass, field

from warex.errors import WarexError
from warex.traces import Outcome, Void

LIMIT = 5
"""After so many the campaign stops."""

_VARIES = re.compile(r"\d+|/\S+")


class CampaignStopped(WarexError):
    """Trial after trial is void for the same reason; the message says which."""

    exit_code = 3


@dataclass(slots=True)
class Streak:
    """Counts them.

    The conditions of one task run side by side, so a task that is broken by itself voids several
    trials in a row: where there are more tasks, a second one must be hit, too.
    """

    tasks: int
    """How many different tasks there are to run."""
    _reason: str = ""
    _length: int = 0
    _hit: set[str] = field(default_factory=set)

    def note(self, task: str, outcome: Outcome) -> None:
        """Count an attempt's outcome; raise CampaignStopped where it was one too many."""
        if not isinstance(outcome, Void):
            self._reason = ""
            return
        # Ports and paths differ from trial to trial, the reason does not.
        reason = _VARIES.sub("…", outcome.reason)
        if reason != self._reason:
            self._reason, self._length, self._hit = reason, 0, set()
        self._length += 1
        self._hit.add(task)
        if self._length >= LIMIT and len(self._hit) >= min(2, self.tasks):
            raise CampaignStopped(
                f"{self._length} trials in a row are void for one reason, so the campaign stops:"
                f" {outcome.reason}\nWhen that is mended, go on with --resume."
            )
